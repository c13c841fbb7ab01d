import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { evenShare, Share, type ShareRequest } from '../../../src/edge/accept/connection-share.ts'

/** One of two workers, what it has asked for, and how that ended. */
function shareOfTwo() {
  const sent: ShareRequest[] = []
  const share = new Share({ slot: 1, workers: 2, send: asked => sent.push(asked) })
  share.begin([['192.0.2.1', 3]])
  const outcomes: string[] = []
  share.settled = outcome => outcomes.push(outcome)
  return { share, sent, outcomes }
}

test('even parts add up to the limit, and differ by one at most', () => {
  for (const [limit, workers] of [
    [10, 3],
    [1, 4],
    [1_000, 7],
  ] as const) {
    const parts = Array.from({ length: workers }, (_, slot) => evenShare(limit, workers, slot))
    assert.equal(
      parts.reduce((sum, part) => sum + part, 0),
      limit,
    )
    assert.ok(Math.max(...parts) - Math.min(...parts) <= 1)
  }
})

test('a process alone has all, and asks nobody', () => {
  const share = new Share()
  assert.deepEqual([share.partOf('*', 7), share.request('*', 7, false, assert.fail)], [7, false])
})

test('a worker has its even part and what it was granted, without what it left', () => {
  const { share } = shareOfTwo()
  assert.deepEqual([share.partOf('*', 7), share.partOf('192.0.2.1', 7)], [3, 6])
  share.grant('*', 2)
  share.leave('192.0.2.1', 4)
  assert.deepEqual([share.partOf('*', 7), share.partOf('192.0.2.1', 7)], [5, 2])
  assert.deepEqual([share.surplus('*'), share.surplus('192.0.2.1')], [2, 0])
})

test('simultaneous callers share one request, and all get its outcome', async () => {
  const { share, sent, outcomes } = shareOfTwo()
  let retries = 0
  for (let i = 0; i < 3; i++) assert.ok(share.request('*', 7, false, () => retries++))
  await turn()
  assert.deepEqual(sent, [{ key: '*', limit: 7, closing: false, count: 3 }])
  share.grant('*', 1)
  assert.deepEqual([retries, outcomes], [3, ['granted']])
})

test('what was denied is not asked for again before the next sweep, but whether others close idle connections may be', async () => {
  const { share, outcomes } = shareOfTwo()
  const ask = (closing: boolean) => share.request('*', 7, closing, () => {})
  assert.ok(ask(false))
  share.grant('*', 0)
  assert.equal(ask(false), false)
  assert.ok(ask(true))
  share.grant('*', 0)
  assert.deepEqual([ask(false), ask(true), outcomes], [false, false, ['denied', 'denied']])
  share.sweep()
  assert.ok(ask(false))
})

test('a reply that is late is not waited for: with what it has, a worker goes on', () => {
  const { share, outcomes } = shareOfTwo()
  let retries = 0
  share.request('*', 7, false, () => retries++)
  for (let i = 0; i < 50; i++) share.sweep()
  assert.equal(retries, 0)
  share.sweep()
  assert.deepEqual([retries, outcomes], [1, ['late']])
  // It counts whenever it comes.
  share.grant('*', 2)
  assert.equal(share.partOf('*', 7), 5)
})

test('so many wait and no more; with the end of the process nobody does', () => {
  const { share } = shareOfTwo()
  let retries = 0
  const ask = (key: string) => share.request(key, 7, false, () => retries++)
  for (let i = 0; i < 1_000; i++) assert.ok(ask('*'))
  assert.equal(ask('192.0.2.1'), false)
  share.close()
  assert.deepEqual([retries, ask('192.0.2.1')], [1_000, false])
})

test('before a worker knows what it may have it takes nothing, and without a word for long its even part', async () => {
  const sent: ShareRequest[] = []
  const fresh = () => new Share({ slot: 1, workers: 2, send: asked => sent.push(asked) })
  for (const begin of [
    (share: Share) => share.begin([['*', 2]]),
    (share: Share) => {
      for (let i = 0; i < 50; i++) share.sweep()
      assert.equal(share.partOf('*', 7), 0)
      share.sweep()
    },
  ]) {
    const share = fresh()
    let retries = 0
    assert.equal(share.partOf('*', 7), 0)
    assert.ok(share.request('*', 7, false, () => retries++))
    await turn()
    begin(share)
    assert.deepEqual([retries, share.partOf('*', 7) >= 3, sent], [1, true, []])
  }
})
