// When key sets are fetched, and how long they are used.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { day, minute, second } from '../../../src/base/units.ts'
import { KeySet } from '../../../src/edge/gates/key-set.ts'
import { ManualClock } from '../../help/clock.ts'
import { issuerKey, keySetOf } from '../../help/issuer.ts'
import { ok, type Respond, startResponder } from '../../help/origin.ts'

const failing = 'HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n'

async function start(t: TestContext, respond: Respond) {
  const server = await startResponder(t, respond)
  const clock = new ManualClock()
  const changes: (string | null)[] = []
  const set = new KeySet({
    url: `${server.url}/keys`,
    ca: null,
    isAllowed: () => true,
    clock,
    changed: failure => changes.push(failure),
  })
  return { set, server, clock, changes }
}

test('all who need the keys at once share one fetch, and get the same object until it changes', async t => {
  let text = keySetOf(issuerKey())
  const { set, server, clock } = await start(t, () => ok(text))
  const [one, other] = await Promise.all([set.latest(), set.latest()])
  assert.ok(one !== null && one === other)
  assert.equal(set.latest(), one)
  assert.equal(server.requests.length, 1)
  clock.advance(10 * minute)
  assert.equal(set.latest(), one, 'used while it is fetched again')
  assert.equal(await set.renewed(one), one)
  assert.equal(server.requests.length, 2)
  text = keySetOf(issuerKey())
  clock.advance(10 * minute)
  set.latest()
  const fresh = await set.renewed(one)
  assert.notEqual(fresh, one)
  assert.equal(set.latest(), fresh)
})

test('Cache-Control says how long it is fresh, within bounds', async t => {
  for (const [value, least] of [
    ['max-age=0', minute],
    ['private, max-age=300', 5 * minute],
    ['max-age=999999', 60 * minute],
    ['no-store', 10 * minute],
  ] as const) {
    const keys = keySetOf(issuerKey())
    const { set, server, clock } = await start(t, () => ok(keys, `Cache-Control: ${value}`))
    const first = await set.latest()
    clock.advance(least - 1)
    set.latest()
    assert.equal(server.requests.length, 1, value)
    clock.advance(1)
    set.latest()
    await set.renewed(first!)
    assert.equal(server.requests.length, 2, value)
  }
})

test('while the issuer fails, the last set is used for a day, and fetched in growing pauses', async t => {
  let response = ok(keySetOf(issuerKey()))
  const { set, server, clock, changes } = await start(t, () => response)
  const keys = await set.latest()
  response = failing
  clock.advance(10 * minute)
  assert.equal(set.latest(), keys)
  await set.renewed(keys!)
  assert.equal(set.latest(), keys)
  assert.equal(server.requests.length, 2, 'a failure is not repeated at once')
  clock.advance(second)
  set.latest()
  await set.renewed(keys!)
  assert.equal(server.requests.length, 3)
  clock.advance(day)
  assert.equal(await set.latest(), null)
  assert.equal(set.latest(), null, 'a failure a moment ago')
  assert.ok(set.wait >= 1)
  response = ok(keySetOf(issuerKey()))
  clock.advance(minute)
  assert.notEqual(await set.latest(), null)
  assert.deepEqual(changes, ['status 500', null])
})

test('unknown keys cause one fetch in 30 s', async t => {
  const keys = keySetOf(issuerKey())
  const { set, server, clock } = await start(t, () => ok(keys))
  const known = (await set.latest())!
  assert.equal(await set.renewed(known), known)
  for (let i = 0; i < 10; i++) assert.equal(set.renewed(known), null)
  assert.equal(server.requests.length, 2)
  clock.advance(30 * second)
  assert.equal(await set.renewed(known), known)
  assert.equal(server.requests.length, 3)
})
