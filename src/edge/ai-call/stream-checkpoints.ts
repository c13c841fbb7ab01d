// Reports to budgets what streams under way may have cost so far, which is charged if the process is killed.

import { estimatedOut } from '../../ai/usage/estimate.ts'
import type { Capture } from '../../ai-logs/capture.ts'
import type { CallBudget } from '../../budgets/call-budget.ts'
import type { Tap } from './tap.ts'

/** Ms between two looks. */
const period = 1_000
/** Ms that may pass between the last look of which the store has heard and the death of a process. */
const unheardOf = 5_000
/** Tokens in a ms that a provider makes at most without sending them, as it thinks. */
const hiddenRate = 0.25
/** Times what is estimated by four bytes of text for a token. */
const margin = 2
type StreamBudget = Pick<CallBudget, 'checkpoint' | 'onEnd'>

export class StreamCheckpoints {
  readonly #streams = new Set<MeasuredStream>()
  #nextAt = 0

  /** Follows a stream until its budget is settled; `now`, and when the call was sent, in monotonic ms. */
  add(budget: StreamBudget, tap: Tap, sentAt: number, now: number): void {
    const stream = new MeasuredStream(budget, tap, sentAt, now)
    this.#streams.add(stream)
    budget.onEnd = () => this.#streams.delete(stream)
  }

  /** Looks at all streams if a second has passed. */
  look(now: number): void {
    if (now < this.#nextAt) return
    this.#nextAt = now + period
    for (const stream of this.#streams) stream.look(now)
  }
}

class MeasuredStream {
  readonly #budget: StreamBudget
  readonly #tap: Tap
  readonly #sentAt: number
  readonly #begunAt: number
  /** Tokens in a byte of the stream, and the size at which that is measured anew. */
  #density = 0
  #measuredNext = 1

  constructor(budget: StreamBudget, tap: Tap, sentAt: number, begunAt: number) {
    this.#budget = budget
    this.#tap = tap
    this.#sentAt = sentAt
    this.#begunAt = begunAt
  }

  look(now: number): void {
    const time = Math.max(1, now - this.#begunAt)
    const sent = this.#tokens * (1 + unheardOf / time)
    const hidden = hiddenRate * (now - this.#sentAt + unheardOf)
    this.#budget.checkpoint(Math.ceil(Math.max(sent, hidden)))
  }

  /** An upper estimate of what came. */
  get #tokens(): number {
    const { response } = this.#tap
    if (response === null) return 0
    if (response.size >= this.#measuredNext) this.#measure(response)
    return response.size * this.#density
  }

  #measure(response: Capture): void {
    this.#measuredNext = response.isCut ? Number.POSITIVE_INFINITY : 2 * response.size
    // The event that is cut would not count.
    if (response.isCut && this.#density > 0) return
    const head = response.head()
    this.#density = (margin * estimatedOut({ head, isEventStream: true }, head.length)) / head.length
  }
}
