// A response that the webhook of a gateway is asked about.

import type { Stop } from '../../guard/guarded-events.ts'
import type { Question as AskedQuestion } from '../../guard/webhook/guard-webhooks.ts'
import type { Verdict } from '../../guard/webhook/verdict.ts'

export type Urgency = 'none' | 'soon' | 'now'

export type Question = Pick<AskedQuestion, 'texts' | 'before'>

/** What the webhook is asked about, as far as it has come. */
export interface Asked {
  readonly stop: Stop | null
  readonly hasReplaced: boolean
  /** Whether the provider should wait. */
  readonly isFull: boolean
  /** Whether there is new text, and enough of it. */
  readonly urgency: Urgency
  /** Returns what may pass unasked. */
  push(bytes: Buffer): Buffer | null
  end(): Buffer | null
  /** Null if there is nothing that is still to be asked about. */
  question(): Question | null
  /** Returns what may pass after a verdict about them, other than that it is blocked. */
  obey(verdict: Verdict): Buffer | null
}
