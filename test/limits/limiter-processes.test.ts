// How exact limits are that several processes share, under ten times the load that they allow.

import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startRedis } from '../help/redis.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'
import type { Admission, Order, Outcome } from './claimant.ts'

const program = join(import.meta.dirname, 'claimant.ts')
const period = 2_000

/** Starts processes that share limits, until the test ends. */
async function startClaimants(t: TestContext, url: string, count = 4) {
  const children = Array.from({ length: count }, () => fork(program, [url, String(period)]))
  t.after(() => Promise.all(children.map(end)))
  await Promise.all(children.map(messageOf))
  return children
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

async function send(child: ChildProcess, order: Order): Promise<Outcome> {
  child.send(order)
  return (await messageOf(child)) as Outcome
}

/** Returns the next message of a process; rejects where it ends without one. */
async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`a process ended with ${code ?? signal}`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  return message
}

/** Returns the most that were asked for and let in within any one period; when one counts that waited is known no better than that. */
function worst(outcomes: readonly Outcome[]): number {
  const all = outcomes.flatMap(({ admitted }) => admitted).toSorted(([, a], [, b]) => a - b)
  const begins = all.map(([asked]) => asked).toSorted((a, b) => a - b)
  return Math.max(...begins.map(begin => within(all, begin)))
}

function within(all: readonly Admission[], begin: number): number {
  return all.filter(([asked, admitted]) => asked >= begin && admitted < begin + period).length
}

const sum = (outcomes: readonly Outcome[], of: (outcome: Outcome) => number) =>
  outcomes.reduce((sum, outcome) => sum + of(outcome), 0)

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  Redis: async t => (await startRedis(t, { aof: 'everysec' })).url,
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
}

/** Tells what came of it, and asserts that nobody decided alone: that says nothing of what is shared. */
function assertShared(t: TestContext, outcomes: readonly Outcome[]): void {
  const longest = Math.max(...outcomes.map(o => o.longest))
  t.diagnostic(
    `worst ${worst(outcomes)}, ${sum(outcomes, o => o.storeCalls)} calls, longest wait ${longest.toFixed()} ms`,
  )
  assert.equal(
    sum(outcomes, o => o.fallbacks),
    0,
  )
}

for (const [name, place] of Object.entries(stores))
  test(`${name}: four processes share a limit`, async t => {
    const children = await startClaimants(t, await place(t))
    for (const most of [50, 1_000])
      await t.test(
        `they let in ${most} and at most 2 % more in any period, of ten times as many`,
        async t => {
          // At any phase of the buckets.
          const from = Date.now() + 100 + Math.random() * period
          const order = { most, rate: (2.5 * most * 1000) / period, duration: 2.5 * period, from }
          const outcomes = await Promise.all(children.map(child => send(child, order)))
          assertShared(t, outcomes)
          const within = worst(outcomes)
          assert.ok(within <= 1.02 * most, `${within} within one period`)
          // The third period is not whole.
          assert.ok(sum(outcomes, ({ admitted }) => admitted.length) >= 0.9 * 2 * most)
        },
      )
    if (name === 'SQLite') return
    await t.test(
      'a sudden rush on a limit of which all think that it is far lets in at most 2 % more',
      async t => {
        const most = 1_001
        const rush = async (rate: number, duration: number) => {
          const order = { most, rate, duration, from: Date.now() + 50 }
          return Promise.all(children.map(child => send(child, order)))
        }
        const outcomes = [...(await rush(20, 300)), ...(await rush(100 * most, 200))]
        assertShared(t, outcomes)
        const within = worst(outcomes)
        assert.ok(within >= most && within <= 1.02 * most, `${within}`)
      },
    )
  })
