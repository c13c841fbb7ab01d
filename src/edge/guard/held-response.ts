// Holds back what comes of a response to an AI call until the webhook of its gateway has let it pass.

import { guarded } from '../../base/guarded.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { Stop } from '../../guard/guarded-events.ts'
import { GuardReport } from '../../guard/report.ts'
import { maxQuestion, type NoVerdict } from '../../guard/webhook/guard-webhooks.ts'
import type { Verdict } from '../../guard/webhook/verdict.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { GuardAction } from '../../store/records/records.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Asked, Question } from './asked.ts'
import { AskedBody } from './asked-body.ts'
import { AskedStream } from './asked-stream.ts'
import { countUndecided } from './count-undecided.ts'
import { noteFindings } from './note-findings.ts'
import { refuseBlocked, refuseUndecided, refuseUnreadable } from './refusals.ts'
import { formOf } from './response-form.ts'

/** Ms between two questions about a stream, unless much of it comes. */
const interval = 200

interface HoldOwner {
  release(bytes: Buffer): void
  /** There is a verdict, after which the response goes on, ends or is refused. */
  decided(): void
  crashed(bug: unknown): void
}

/** Null if the webhook is not asked about it: the gateway does not want that, or it has no text. */
export function holdResponse(x: Exchange, ai: AiExchange, head: ResponseHead): HeldResponse | Refusal | null {
  const webhook = ai.guard === null ? null : ai.guard.responseWebhook
  if (webhook === null || x.plane.ai!.guardWebhooks === null) return null
  const form = formOf(head)
  if (form === null) return null
  ai.findings ??= new GuardReport()
  ai.isGuarded = true
  if (form === 'unreadable') return refuseUnasked(x, ai, 'a response that is compressed or in frames')
  return new HeldResponse(x, ai, form === 'events' ? new AskedStream() : new AskedBody(form))
}

function refuseUnasked(x: Exchange, ai: AiExchange, what: string): Refusal {
  ai.findings!.note('response', 'unreadable', 'block')
  if (x.stage === 'none') noteFindings(x, ai)
  return refuseUnreadable('response', what)
}

export class HeldResponse {
  /** Set once nothing more of the response may be sent. */
  refusal: Refusal | null = null
  owner: HoldOwner | null = null
  readonly #x: Exchange
  readonly #ai: AiExchange
  readonly #asked: Asked
  #asking: AbortController | null = null
  /** Monotonic ms before which it is not asked about little text. */
  #nextAt = 0
  #timer: NodeJS.Timeout | null = null
  #isClosed = false
  #isEnded = false
  /** By the patterns. */
  #isRedacted = false

  constructor(x: Exchange, ai: AiExchange, asked: Asked) {
    this.#x = x
    this.#ai = ai
    this.#asked = asked
  }

  get isAsking(): boolean {
    return this.#asking !== null
  }

  /** Whether the provider should wait. */
  get isFull(): boolean {
    return this.#asked.isFull
  }

  push(bytes: Buffer): void {
    this.#release(this.#asked.push(bytes))
    if (this.refusal === null && this.#asked.stop !== null) this.#stop(this.#asked.stop)
  }

  /** Asks about what has come, unless a question is open or it is too early for another one. */
  flush(): void {
    this.#advance()
  }

  /** `isRedacted` says whether the patterns have changed something. */
  end(isRedacted: boolean): void {
    this.#isEnded = true
    this.#isRedacted = isRedacted
    // What was not asked about is not stored, also if the caller leaves before the verdict.
    this.#ai.isGuarded = true
    this.#release(this.#asked.end())
    this.#advance()
  }

  /** Takes the question back. */
  close(): void {
    this.#isClosed = true
    this.#stopTimer()
    this.#asking?.abort()
    this.#asking = null
  }

  #advance(): void {
    if (this.#asking !== null || this.refusal !== null || this.#isClosed) return
    const { stop, urgency, hasReplaced } = this.#asked
    if (stop !== null) return this.#stop(stop)
    if (!this.#isEnded && (urgency === 'none' || (urgency === 'soon' && this.#waits()))) return
    const question = this.#asked.question()
    if (question !== null) this.#ask(question)
    else if (this.#isEnded) this.#ai.isGuarded = this.#isRedacted || hasReplaced
  }

  /** Whether it is too early to ask about little. */
  #waits(): boolean {
    const wait = this.#nextAt - this.#x.plane.clock.monotonic()
    if (wait <= 0) return false
    const ask = () => {
      this.#timer = null
      this.#advance()
    }
    this.#timer ??= setTimeout(
      guarded(ask, bug => this.owner!.crashed(bug)),
      wait,
    ).unref()
    return true
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #ask({ texts, before }: Question): void {
    const { plane, ray } = this.#x
    const asking = new AbortController()
    this.#asking = asking
    this.#stopTimer()
    this.#nextAt = plane.clock.monotonic() + interval
    const { gateway, guard, model } = this.#ai
    const webhook = guard!.responseWebhook!
    const question = { gateway: gateway!, webhook, check: 'response', ray, model, texts, before } as const
    plane
      .ai!.guardWebhooks!.ask(question, asking.signal)
      .then(outcome => {
        if (this.#asking === asking && !this.#isClosed) this.#decide(outcome)
      })
      .catch(bug => this.owner!.crashed(bug))
  }

  #decide(outcome: Verdict | NoVerdict): void {
    this.#asking = null
    if (outcome === 'too_large')
      this.#stop({ unreadable: `a response with more than ${maxQuestion} bytes of text at once` })
    else if (typeof outcome === 'string') {
      countUndecided(this.#x, this.#ai, outcome)
      this.refusal = refuseUndecided('response', outcome)
    } else this.#obey(outcome)
    this.#advance()
    this.owner!.decided()
  }

  #obey(verdict: Verdict): void {
    if (verdict.kind !== 'allow') {
      const action: GuardAction = verdict.kind === 'replace' ? 'redact' : verdict.kind
      for (const name of verdict.names) this.#ai.findings!.note('response', name, action)
      if (this.#x.stage === 'none') noteFindings(this.#x, this.#ai)
      if (verdict.kind === 'block') {
        this.refusal = refuseBlocked('response', verdict.names)
        return
      }
    }
    this.#release(this.#asked.obey(verdict))
  }

  #stop(stop: Stop): void {
    this.refusal =
      'blocked' in stop
        ? refuseBlocked('response', stop.blocked)
        : refuseUnasked(this.#x, this.#ai, stop.unreadable)
  }

  #release(bytes: Buffer | null): void {
    if (bytes !== null) this.owner!.release(bytes)
  }
}
