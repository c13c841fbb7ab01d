// Counts of the reuse of responses of AI models.

import { Tally, tallies } from './distribution.ts'

/** Why a response is neither reused nor stored. */
const bypassReasons = [
  'skip',
  'operation',
  'stateful',
  'unreadable',
  'no_token',
  'signed',
  'not_ready',
  'busy',
] as const
export type BypassReason = (typeof bypassReasons)[number]

/** What becomes of a call with an Idempotency-Key; `conflict`: its key stands for another one. */
const onceResults = [
  'made',
  'joined',
  'replayed',
  'conflict',
  'running',
  'lost',
  'broken',
  'gone',
  'full',
  'unavailable',
] as const
export type OnceResult = (typeof onceResults)[number]

interface InMemory {
  readonly bytes: number
  readonly entries: number
}

export class AnswerMetrics {
  /** `join`: the response to another call that was on its way. */
  readonly calls = tallies(['hit', 'join', 'miss', 'bypass'])
  readonly bypassed = tallies(bypassReasons)
  readonly once = tallies(onceResults)
  readonly writes = tallies(['stored', 'dropped', 'failed'])
  readonly failedReads = new Tally()
  /** Of another secret key, or damaged. */
  readonly unreadable = new Tally()
  memory: (() => InMemory) | null = null
  /** Bytes of responses on their way. */
  held: (() => number) | null = null
}
