// Guards a whole response: nothing of it is sent before all of it was looked at.

import { GuardedEvents, type Stop } from '../../guard/guarded-events.ts'
import type { CompiledCheck } from '../../guard/compiled-guard.ts'
import { readText } from '../../guard/readable.ts'
import { redactJson, redactText, withoutLogprobs } from '../../guard/redact.ts'
import type { GuardReport } from '../../guard/report.ts'
import { matchesIn } from '../../guard/text-scanner.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'

/** How a body is read. */
export type BodyForm = 'json' | 'lines' | 'text'

/** Far more than any real response. */
const maxBody = 32 * 1024 * 1024

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
    if (this.#form === 'lines') return this.#guardEvents(text.split('\n').map(parse), '\n', text)
    // Gemini streams a list of what are events elsewhere.
    const events = this.#form === 'json' && /^\s*\[/.test(text) ? parse(text) : null
    return Array.isArray(events) ? `${this.#guardEvents(events, ',', text)}` : this.#guardText(text)
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

  #guardEvents(events: readonly unknown[], separator: ',' | '\n', text: string): string {
    const guarded = new GuardedEvents(this.#check, this.#report)
    let isChanged = false
    for (const event of events)
      guarded.push(event, JSON.stringify(event) ?? '', changed => {
        isChanged ||= changed
        return ''
      })
    guarded.end()
    this.stop = guarded.stop
    if (!isChanged) return text
    const written = events.map(event => (typeof event === 'string' ? event : JSON.stringify(event)))
    return separator === ',' ? `[${written.join(',')}]` : written.join('\n')
  }

  #noteUnreadable(what: string): void {
    this.#report.note(this.#check.check, 'unreadable', this.#check.isEnforced ? 'block' : 'flag')
    if (this.#check.isEnforced) this.stop = { unreadable: what }
  }
}

/** What is no JSON stays a text. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
