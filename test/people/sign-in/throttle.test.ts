import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Throttle } from '../../../src/people/sign-in/throttle.ts'
import { openStore } from '../../../src/store/open.ts'
import { ManualClock } from '../../help/clock.ts'
import { onStores } from '../on-stores.ts'

const minute = 60_000

onStores('five attempts of a user in ten minutes, over all processes', async village => {
  const throttles = [village.parts.throttle, (await village.elsewhere()).throttle]
  const attempt = (i: number) => throttles[i % 2]!.attempt('a@example.com', `192.0.2.${i}`)
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => attempt(i)))
  const refused = all.flatMap(one => ('retryAfter' in one ? [one.retryAfter] : []))
  assert.equal(refused.length, 15)
  for (const seconds of refused) assert.ok(seconds > 590 && seconds <= 620, String(seconds))
  assert.ok('forgive' in (await throttles[0]!.attempt('b@example.com', '192.0.2.99')))
  village.clock.advance(11 * minute)
  assert.ok('forgive' in (await attempt(0)))
})

onStores(
  'twenty attempts of an address, an IPv6 network being one; what a locked user asks for counts for none',
  async village => {
    const { throttle } = village.parts
    const attempt = (user: string, host: number) =>
      throttle.attempt(user, `2001:db8:0:1::${host.toString(16)}`)
    for (let i = 0; i < 30; i++) await attempt('locked@example.com', i)
    for (let i = 0; i < 15; i++) assert.ok('forgive' in (await attempt(`${i}@example.com`, i)), String(i))
    assert.ok('retryAfter' in (await attempt('next@example.com', 1)))
    assert.ok('forgive' in (await throttle.attempt('next@example.com', '2001:db8:0:2::1')))
    assert.ok((await throttle.signUp('2001:db8:0:1::77'))! > 0)
    assert.equal(await throttle.signUp('2001:db8:0:2::77'), null)
  },
)

onStores('an attempt that was right counts for nothing', async village => {
  const { throttle } = village.parts
  for (let i = 0; i < 30; i++) {
    const attempt = await throttle.attempt('a@example.com', '192.0.2.1')
    assert.ok('forgive' in attempt)
    await attempt.forgive()
  }
})

const address = '192.0.2.1'

async function start(t: TestContext) {
  const clock = new ManualClock(Date.now())
  const store = await openStore('sqlite::memory:', { commandTimeout: 500, clock })
  t.after(() => store.close())
  return { clock, throttle: new Throttle(store.counters) }
}

test('who has to wait is told how long, and whether for the user or the address', async t => {
  const { clock, throttle } = await start(t)
  for (let i = 0; i < 5; i++) assert.ok('forgive' in (await throttle.attempt('a@example.com', address)))
  const ofUser = await throttle.attempt('a@example.com', address)
  assert.ok('of' in ofUser && ofUser.of === 'user' && ofUser.retryAfter > 0)
  for (let i = 0; i < 15; i++) assert.ok('forgive' in (await throttle.attemptFrom(address)), String(i))
  for (const attempt of [throttle.attemptFrom(address), throttle.attempt('b@example.com', address)]) {
    const refused = await attempt
    assert.ok('of' in refused && refused.of === 'address')
    assert.ok(refused.retryAfter >= 1 && refused.retryAfter <= 1_200, String(refused.retryAfter))
  }
  assert.ok((await throttle.signUp(address))! >= 1)
  clock.advance(21 * minute)
  for (let i = 0; i < 20; i++) assert.equal(await throttle.signUp(address), null)
  const wait = (await throttle.signUp(address))!
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 1_200, String(wait))
})

test('an attempt without a user that was right counts for nothing', async t => {
  const { throttle } = await start(t)
  for (let i = 0; i < 30; i++) {
    const attempt = await throttle.attemptFrom(address)
    assert.ok('forgive' in attempt, String(i))
    await attempt.forgive()
  }
})

test('an address begins a hundred sign-ins at the provider in ten minutes, which count for no others', async t => {
  const { clock, throttle } = await start(t)
  for (let i = 0; i < 100; i++) assert.equal(await throttle.toProvider(address), null)
  assert.ok((await throttle.toProvider(address))! >= 1)
  assert.equal(await throttle.toProvider('192.0.2.2'), null)
  assert.ok('forgive' in (await throttle.attemptFrom(address)))
  clock.advance(5 * minute)
  assert.ok((await throttle.toProvider(address))! >= 1)
  clock.advance(16 * minute)
  assert.equal(await throttle.toProvider(address), null)
})

test('a user who has to wait is told of once in ten minutes', async t => {
  const { clock, throttle } = await start(t)
  const told = () => throttle.isFirstToTell('ada')
  assert.deepEqual([await told(), await told(), await throttle.isFirstToTell('bob')], [true, false, true])
  clock.advance(21 * minute)
  assert.equal(await told(), true)
})
