// Guards the response to an AI call, as its caller gets it: after translation, before it is stored or sent.

import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { CompiledCheck } from '../../guard/compiled-guard.ts'
import { GuardedEvents, type Stop } from '../../guard/guarded-events.ts'
import { GuardReport } from '../../guard/report.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { GuardedBody } from './guarded-body.ts'
import { GuardedStream } from './guarded-stream.ts'
import { noteFindings } from './note-findings.ts'
import { refuseBlocked, refuseUnreadable } from './refusals.ts'
import { type BodyForm, formOf } from './response-form.ts'

/** Null if it is not looked at: the gateway does not ask for that, or it has no text. */
export function guardResponse(
  x: Exchange,
  ai: AiExchange,
  head: ResponseHead,
): ResponseGuard | Refusal | null {
  const check = ai.guard === null ? null : ai.guard.response
  if (check === null) return null
  const form = formOf(head)
  if (form === null) return null
  ai.findings ??= new GuardReport()
  if (form === 'unreadable') {
    ai.findings.note('response', 'unreadable', check.isEnforced ? 'block' : 'flag')
    noteFindings(x, ai)
    if (!check.isEnforced) return null
    ai.isGuarded = true
    return refuseUnreadable('response', 'a response that is compressed or in frames')
  }
  return new ResponseGuard(x, ai, check, form)
}

export class ResponseGuard {
  readonly holdsHead: boolean
  /** Set once nothing more of the response may be sent. */
  refusal: Refusal | null = null
  readonly #x: Exchange
  readonly #ai: AiExchange
  readonly #guarded: GuardedBody | GuardedStream

  constructor(x: Exchange, ai: AiExchange, check: CompiledCheck, form: BodyForm | 'events') {
    this.#x = x
    this.#ai = ai
    const findings = ai.findings!
    this.#guarded =
      form === 'events'
        ? new GuardedStream(new GuardedEvents(check, findings))
        : new GuardedBody(form, check, findings)
    this.holdsHead = this.#guarded.holdsHead
    // What was not looked at is not stored, also if the response ends early.
    ai.isGuarded = check.isEnforced
  }

  /** What may be sent, even if the rest may not. */
  push(bytes: Buffer): Buffer | null {
    const safe = this.#guarded.push(bytes)
    this.#noteStop()
    return safe
  }

  end(): Buffer | null {
    const safe = this.#guarded.end()
    this.#noteStop()
    if (this.refusal === null) this.#ai.isGuarded = this.#guarded.hasRedacted
    if (this.holdsHead) noteFindings(this.#x, this.#ai)
    return safe
  }

  #noteStop(): void {
    const { stop } = this.#guarded
    if (stop === null || this.refusal !== null) return
    this.refusal = refusalOf(stop)
    if (this.#x.stage === 'none') noteFindings(this.#x, this.#ai)
  }
}

function refusalOf(stop: Stop): Refusal {
  return 'blocked' in stop
    ? refuseBlocked('response', stop.blocked)
    : refuseUnreadable('response', stop.unreadable)
}
