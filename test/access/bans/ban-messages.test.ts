import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { BanMessages } from '../../../src/access/bans/ban-messages.ts'
import { type BanNews, Bans } from '../../../src/access/bans/bans.ts'
import { ManualClock } from '../../help/clock.ts'

const config = { refusals: 10, within: 600_000, lasts: 600_000 }
const keysIn = (news: BanNews) => news.reduce((sum, [, numbers]) => sum + numbers.size, 0)

function mockTimers(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] })
}

/** Lets 100 ms pass, and what waits for them. */
async function pass(t: TestContext, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    t.mock.timers.tick(100)
    await new Promise(setImmediate)
  }
}

test('a flood of addresses becomes ten messages a second of a thousand each, and what would be too late is dropped', async t => {
  mockTimers(t)
  const sent: BanNews[] = []
  const post = new BanMessages(news => void sent.push(news))
  for (let i = 0; i < 100_000; i++) post.add(`ban ${i % 3}`, `address ${i}`, 1)
  post.add('ban 0', 'address 0', 4)
  for (let i = 0; i < 10; i++) {
    await pass(t)
    assert.equal(sent.length, Math.min(5, i + 1))
  }
  assert.deepEqual(sent.map(keysIn), Array(5).fill(1_000))
  assert.ok(sent.flat().every(([, numbers]) => numbers.size > 0))
  assert.equal(sent[0]![0]![1].get('address 0'), 5)
  post.add('ban', 'address', 2)
  post.add('ban', 'address', 3)
  await pass(t)
  assert.deepEqual(sent.at(-1), [['ban', new Map([['address', 5]])]])
  await pass(t, 3)
  assert.equal(sent.length, 6, 'none without news')
})

test('no message follows one that is still on its way', async t => {
  mockTimers(t)
  const written = Promise.withResolvers<void>()
  let sent = 0
  const post = new BanMessages(() => (sent++ === 0 ? written.promise : undefined))
  post.add('ban', 'one', 1)
  await pass(t)
  post.add('ban', 'other', 1)
  await pass(t, 10)
  assert.equal(sent, 1)
  written.resolve()
  await pass(t, 2)
  assert.equal(sent, 2)
})

test('an address is banned on all workers once its refusals on all of them together are enough', async t => {
  mockTimers(t)
  const worker = fc.nat({ max: 2 })
  const address = fc.constantFrom('a', 'b', 'c')
  const refusals = fc.array(fc.tuple(worker, address, fc.integer({ min: 1, max: 4 }), fc.boolean()), {
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(refusals, async refused => {
      const { workers, count } = together(3)
      const sums = new Map<string, number>()
      for (const [worker, address, times, passes] of refused) {
        for (let i = 0; i < times; i++) workers[worker]!.of('site', config).note(address)
        sums.set(address, (sums.get(address) ?? 0) + times)
        if (passes) await pass(t, 2)
      }
      await pass(t, 2)
      for (const address of ['a', 'b', 'c'])
        for (const bans of workers)
          assert.equal(bans.of('site', config).has(address), (sums.get(address) ?? 0) >= config.refusals)
      assert.equal(count.active, [...sums.values()].filter(sum => sum >= config.refusals).length)
    }),
  )
})

/** Has some workers count together, as a supervisor does. */
function together(size: number) {
  const clock = new ManualClock()
  const out = new BanMessages(news => {
    for (const bans of workers) bans.impose(structuredClone(news))
  })
  const count = new Bans(clock, { banned: (...ban) => out.add(...ban) })
  count.of('site', config)
  const workers = Array.from({ length: size }, () => {
    const post = new BanMessages(news => void count.count(structuredClone(news)))
    const bans = new Bans(clock, { noted: (...refusals) => post.add(...refusals) })
    bans.of('site', config)
    return bans
  })
  return { workers, count }
}
