// Guards a whole response: nothing of it is sent before all of it was looked at.

import { GuardedEvents, type Stop } from '../../guard/guarded-events.ts'
import type { CompiledCheck } from '../../guard/compiled-guard.ts'
import { readText } from '../../guard/readable.ts'
import { redactJson, redactText, withoutLogprobs } from '../../guard/redact.ts'
import type { GuardReport } from '../../guard/report.ts'
import { matchesIn } from '../../guard/text-scanner.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'
import { type EventList, eventsOf } from './event-list.ts'
import { parse } from './parse.ts'
import type { BodyForm } from './response-form.ts'

/** Far more than any real response. */
export const maxBody = 32 * 1024 * 1024

export class GuardedBody {
  readonly holdsHead = true
  stop: Stop | null = null
  hasRedacted = false
  readonly #form: BodyForm
  readonly #check: CompiledCheck
  readonly #report: GuardReport
  /** Null once it is too large to be looked at, and passed on. */
  #body: GrowingBytes | null = new GrowingBytes()

  constructor(form: BodyForm, check: CompiledCheck, report: GuardReport) {
    this.#form = form
    this.#check = check
    this.#report = report
  }

  push(bytes: Buffer): Buffer | null {
    const body = this.#body
    if (body === null) return bytes
    if (this.stop !== null) return null
    body.append(bytes)
    if (body.size <= maxBody) return null
    this.#noteUnreadable('a response that is too large')
    if (this.stop !== null) return null
    this.#body = null
    return body.bytes
  }

  end(): Buffer | null {
    const body = this.#body
    if (body === null || body.size === 0 || this.stop !== null) return null
    const text = readText(body.bytes)
    if (text === null) {
      this.#noteUnreadable('a response that is no text in UTF-8')
      return this.stop === null ? body.bytes : null
    }
    const guarded = this.#guard(text)
    if (this.stop !== null) return null
    this.hasRedacted = guarded !== text
    return this.hasRedacted ? Buffer.from(guarded) : body.bytes
  }

  #guard(text: string): string {
    const events = eventsOf(text, this.#form)
    return events === null ? this.#guardText(text) : this.#guardEvents(events, text)
  }

  #guardText(text: string): string {
    const check = this.#check
    const matches = matchesIn(text, check.patterns)
    for (const { name } of matches) this.#report.note(check.check, name, check.actionOf(name))
    const blocked = matches.filter(({ name }) => check.actionOf(name) === 'block').map(({ name }) => name)
    if (blocked.length > 0) this.stop = { blocked: [...new Set(blocked)] }
    const redacted = matches.filter(({ name }) => check.actionOf(name) === 'redact')
    if (redacted.length === 0) return text
    if (this.#form === 'text') return redactText(text, redacted)
    const json = redactJson(text, redacted)
    const value = json.includes('logprobs') ? parse(json) : null
    withoutLogprobs(value)
    return value === null ? json : JSON.stringify(value)
  }

  #guardEvents(events: EventList, text: string): string {
    const guarded = new GuardedEvents(this.#check, this.#report)
    events.read(guarded)
    this.stop = guarded.stop
    return events.isChanged ? events.write() : text
  }

  #noteUnreadable(what: string): void {
    this.#report.note(this.#check.check, 'unreadable', this.#check.isEnforced ? 'block' : 'flag')
    if (this.#check.isEnforced) this.stop = { unreadable: what }
  }
}
