// Processes that spend from one bucket at the same time, and what they agree on with their parent.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { BudgetBucket } from '../../src/store/records/budget.ts'

/** What a parent asks for: takes until nothing is left, or reports without end. */
export interface SpendOrder {
  readonly kind: 'take' | 'report'
  readonly account: string
  readonly limit: number
}

/** What was spent and leased in the bucket after each grant. */
export type Grants = readonly number[]

export const sharesEach = 4
/** Ms: longer than any test. */
export const lease = 600_000
export const bucket: BudgetBucket = { bucket: 'b', window: { kind: 'fixed', until: 4_000_000_000_000 } }

const program = join(import.meta.dirname, 'budget-spender.ts')

/** Starts processes that have opened the store, and that end with the test at the latest. */
export async function startSpenders(
  t: TestContext,
  url: string,
  count: number,
): Promise<readonly ChildProcess[]> {
  const children = Array.from({ length: count }, () => fork(program, [url]))
  t.after(() => Promise.all(children.map(kill)))
  await Promise.all(children.map(messageOf))
  return children
}

/** Ends a process as a crash does, and waits for its last messages. */
export async function kill(child: ChildProcess): Promise<void> {
  const isOver = child.exitCode !== null || child.signalCode !== null
  const ends = Promise.all([isOver || once(child, 'exit'), child.connected && once(child, 'disconnect')])
  child.kill('SIGKILL')
  await ends
}

/** Returns the next message of a process; rejects where it ends without one. */
export async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`a process ended with ${code ?? signal}`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  return message
}
