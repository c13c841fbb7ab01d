import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type CallOnce, ClaimedCalls, HeldClaim, lifetime } from '../../src/answers/claimed-calls.ts'
import { StoreUnreachable, StoreUntouched } from '../../src/store/contract/store.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../help/clock.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { ContractClock } from '../store/contract-clock.ts'
import { openRedis } from '../store/redis/open.ts'

const call = (key: string, more: Partial<CallOnce> = {}): CallOnce => ({
  ...{ place: { account: 'a', gateway: 'default', key }, owner: 'o', fingerprint: 'f', ray: 'ray-1' },
  answerPlace: { account: 'a', gateway: 'default', key: `of-${key}` },
  ...more,
})
const warnings = { warn: () => {} }

async function start(t: TestContext) {
  const clock = new ContractClock()
  const store = await SqliteStore.open(':memory:', { commandTimeout: 2_000, clock })
  t.after(() => store.close())
  const process = () => new ClaimedCalls({ store, clock, warnings })
  return { clock, store, process }
}

/** Claims a call that nobody has claimed. */
async function hold(calls: ClaimedCalls, one: CallOnce): Promise<HeldClaim> {
  const held = await calls.claim(one)
  assert.ok(held instanceof HeldClaim)
  return held
}

test('what a key stands for is told to other processes: a call under way, its end, or another call', async t => {
  const { process } = await start(t)
  const [one, other] = [process(), process()]
  const held = await hold(one, call('k'))
  const again = call('k', { ray: 'ray-2' })
  assert.deepEqual(await other.claim(again), { kind: 'running', ray: 'ray-1' })
  assert.deepEqual(await other.claim({ ...again, fingerprint: 'g' }), { kind: 'other', ray: 'ray-1' })
  held.end('made')
  await one.close()
  assert.deepEqual(await other.look(again), { kind: 'made', ray: 'ray-1' })
  assert.deepEqual(await other.claim({ ...again, fingerprint: 'g' }), { kind: 'other', ray: 'ray-1' })
})

test('a call whose response broke off is told as such, and a released key is free', async t => {
  const { process } = await start(t)
  const calls = process()
  const [broken, released] = [await hold(calls, call('a')), await hold(calls, call('b'))]
  broken.end('broken')
  released.end('released')
  await calls.close()
  assert.deepEqual(await process().claim(call('a')), { kind: 'broken', ray: 'ray-1' })
  assert.equal(await process().look(call('b')), null)
  await hold(process(), call('b'))
})

test('a call ends once, and another claim of its key is another call', async t => {
  const { process } = await start(t)
  const calls = process()
  const held = await hold(calls, call('k'))
  held.end('released')
  held.end('made')
  await calls.close()
  const again = await hold(process(), call('k', { ray: 'ray-2' }))
  held.end('broken')
  assert.deepEqual(await calls.look(call('k')), { kind: 'running', ray: 'ray-2' })
  assert.notEqual(again.holder, held.holder)
})

test('beyond what an account or an owner may claim, no call is made, and the caller learns until when', async t => {
  const { clock, store } = await start(t)
  let bounds = { maxClaims: 0, maxOfOwner: 0 }
  const { claim } = store.claims
  const asked = t.mock.method(store.claims, 'claim', (ask: Parameters<typeof claim>[0]) =>
    claim.call(store.claims, { ...ask, ...bounds }),
  )
  const calls = new ClaimedCalls({ store, clock, warnings })
  bounds = { maxClaims: 2, maxOfOwner: 1 }
  const began = clock.now()
  await hold(calls, call('a'))
  const ended = clock.now()
  clock.advance(1_000)
  const full = await calls.claim(call('b'))
  assert.ok(!(full instanceof HeldClaim) && full.kind === 'full')
  const { of, until } = full
  assert.equal(of, 'owner')
  assert.ok(began + lifetime <= until && until <= ended + lifetime, `${until - began - lifetime} ms`)
  await hold(calls, call('b', { owner: 'p' }))
  assert.deepEqual(await calls.claim(call('c', { owner: 'q' })), { kind: 'full', of: 'account', until })
  const [{ maxClaims, maxOfOwner }] = asked.mock.calls[0]!.arguments
  assert.deepEqual([maxClaims, maxOfOwner], [100_000, 20_000])
})

test('a claim is renewed as long as it is held, and lost soon after its process is gone', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { clock, process } = await start(t)
  const [one, other] = [process(), process()]
  await hold(one, call('k'))
  for (let i = 0; i < 6; i++) {
    clock.advance(5_000)
    t.mock.timers.tick(5_000)
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    assert.equal((await other.look(call('k')))!.kind, 'running')
  }
  clock.advance(15_001)
  assert.deepEqual(await other.claim(call('k')), { kind: 'lost', ray: 'ray-1' })
  clock.advance(lifetime)
  await hold(other, call('k'))
})

test('of more calls at a time than the store queues, each is renewed, and the end of each is stored', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { clock, store, process } = await start(t)
  const calls = process()
  const held: HeldClaim[] = []
  for (let from = 0; from < 1_500; from += 500) {
    const some = Array.from({ length: 500 }, (_, i) => hold(calls, call(`k${from + i}`)))
    held.push(...(await Promise.all(some)))
  }
  const renew = t.mock.method(store.claims, 'renew')
  clock.advance(10_000)
  t.mock.timers.tick(5_000)
  await until(() => renew.mock.callCount() === 1_500)
  await Promise.all(renew.mock.calls.map(({ result }) => result))
  clock.advance(10_000)
  const kinds = async () => {
    const seen = await Promise.all(held.map(async ({ call }) => (await process().look(call))?.kind))
    return [...new Set(seen)]
  }
  assert.deepEqual(await kinds(), ['running'])
  for (const one of held) one.end('made')
  await calls.close()
  assert.deepEqual(await kinds(), ['made'])
})

test('the end of a call is told to a store that comes back', async t => {
  const server = await startRedis(t, { aof: 'always' })
  const store = await openRedis(t, server.url, 500)
  const clock = new ContractClock()
  const calls = new ClaimedCalls({ store, clock, warnings })
  const [made, free] = [await hold(calls, call('a')), await hold(calls, call('b'))]
  await server.kill()
  made.end('made')
  free.end('released')
  await assert.rejects(calls.claim(call('c')), { code: 'GH_STORE_AWAY' })
  await server.restart()
  await until(() => !store.isUnreachable)
  await until(async () => (await calls.look(call('a')))?.kind === 'made')
  await until(async () => (await calls.look(call('b'))) === null)
  await hold(calls, call('c'))
})

test('a claim that the store may have made, although it did not confirm it, is given up', async t => {
  const { clock, store, process } = await start(t)
  const { claim, release } = store.claims
  let failure: Error = new StoreUnreachable()
  t.mock.method(store.claims, 'claim', async (ask: Parameters<typeof claim>[0]) => {
    await claim.call(store.claims, ask)
    throw failure
  })
  const released = t.mock.method(store.claims, 'release', (...args: Parameters<typeof release>) =>
    release.apply(store.claims, args),
  )
  const calls = new ClaimedCalls({ store, clock, warnings })
  await assert.rejects(calls.claim(call('k')), failure)
  await calls.close()
  assert.equal(await process().look(call('k')), null)
  for (failure of [new StoreUntouched(), new TypeError('a bug')])
    await assert.rejects(calls.claim(call('l')), failure)
  await calls.close()
  assert.equal(released.mock.callCount(), 1)
})

test('the end of a call is tried for ten minutes, a second apart, and not after closing', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { store } = await start(t)
  const clock = new ManualClock(Date.now())
  const lines: unknown[] = []
  const calls = new ClaimedCalls({ store, clock, warnings: { warn: (...line) => void lines.push(line) } })
  const [one, other] = [await hold(calls, call('a')), await hold(calls, call('b'))]
  const settle = t.mock.method(store.claims, 'settle', async () => {
    throw new StoreUnreachable()
  })
  const attempts = async (seconds: number) => {
    const before = settle.mock.callCount()
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000)
      t.mock.timers.tick(1_000)
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
    }
    return settle.mock.callCount() - before
  }
  one.end('made')
  assert.equal((await attempts(0)) + settle.mock.callCount(), 1)
  assert.equal(await attempts(700), 600)
  assert.equal(lines.length, 601)
  other.end('made')
  assert.equal(await attempts(1), 1)
  const closed = calls.close()
  assert.equal(await attempts(5), 1)
  await closed
})
