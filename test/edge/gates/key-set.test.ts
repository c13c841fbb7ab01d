// When key sets are fetched, and how long they are used.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { day, minute, second } from '../../../src/base/units.ts'
import { KeySet } from '../../../src/edge/gates/key-set.ts'
import { selfSigned } from '../../../src/process/demo/self-signed.ts'
import { ManualClock } from '../../help/clock.ts'
import { issuerKey, keySetOf } from '../../help/issuer.ts'
import { ok, type Respond, startResponder } from '../../help/origin.ts'

const failing = 'HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n'

async function start(t: TestContext, respond: Respond) {
  const server = await startResponder(t, respond)
  return { server, ...setAt(`${server.url}/keys`) }
}

function setAt(url: string, ca: string | null = null, isAllowed = (_: string) => true) {
  const clock = new ManualClock()
  const changes: (string | null)[] = []
  let fetches = 0
  const set = new KeySet({
    ...{ url, ca, clock, changed: failure => changes.push(failure) },
    isAllowed: address => {
      fetches++
      return isAllowed(address)
    },
  })
  /** How many have begun, where the URL has an address. */
  const begun = () => fetches
  return { set, clock, changes, begun }
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
    ['max-age="300"', 5 * minute],
    ['max-age=999999', 60 * minute],
    ['max-age=1234567890', 10 * minute],
    ['s-max-age=300', 10 * minute],
    ['no-store', 10 * minute],
  ] as const) {
    const keys = keySetOf(issuerKey())
    const { set, clock, begun } = await start(t, () => ok(keys, `Cache-Control: ${value}`))
    const first = await set.latest()
    clock.advance(least - 1)
    assert.equal(set.latest(), first)
    assert.equal(begun(), 1, value)
    clock.advance(1)
    assert.equal(set.latest(), first)
    assert.equal(begun(), 2, value)
    await set.renewed(first!)
  }
})

test('an issuer that fails is asked in pauses of a second to a minute, from the first again once it works', async t => {
  let response = failing
  const { set, clock, begun, changes } = await start(t, () => response)
  const pauses = [1, 2, 4, 8, 16, 32, 60, 60]
  for (const [i, pause] of pauses.entries()) {
    assert.equal(await set.latest(), null)
    assert.deepEqual([begun(), set.wait, set.latest()], [i + 1, pause, null])
    clock.advance(pause * second - 1)
    assert.deepEqual([set.latest(), begun(), set.wait], [null, i + 1, 1])
    clock.advance(1)
  }
  response = ok(keySetOf(issuerKey()))
  const keys = (await set.latest())!
  assert.deepEqual([changes, set.wait], [['status 500', null], 1])
  response = failing
  clock.advance(10 * minute)
  assert.equal(set.latest(), keys)
  await set.renewed(keys)
  const before = begun()
  clock.advance(second - 1)
  assert.deepEqual([set.latest(), begun()], [keys, before])
  clock.advance(1)
  assert.deepEqual([set.latest(), begun()], [keys, before + 1])
  await set.renewed(keys)
  for (let i = 0; i < 6; i++) {
    clock.advance(minute)
    set.latest()
    await set.renewed(keys)
  }
  clock.advance(30 * second)
  assert.equal(set.renewed(keys), null, 'it is in a pause')
})

test('a set is used for a day, and not for a moment longer', async t => {
  let response = ok(keySetOf(issuerKey()))
  const { set, clock } = await start(t, () => response)
  const keys = await set.latest()
  response = failing
  clock.advance(day - 1)
  assert.equal(set.latest(), keys)
  await set.renewed(keys!)
  clock.advance(1)
  assert.equal(set.latest(), null)
  clock.advance(second)
  assert.equal(await set.latest(), null)
})

test('one that ends while it is fetched in vain is not used on', async t => {
  const hold = Promise.withResolvers<string>()
  let response: string | Promise<string> = ok(keySetOf(issuerKey()))
  const { set, clock } = await start(t, () => Promise.resolve(response))
  const keys = await set.latest()
  response = hold.promise
  clock.advance(day - 1)
  assert.equal(set.latest(), keys)
  const fetching = set.renewed(keys!)
  clock.advance(1)
  hold.resolve(failing)
  assert.equal(await fetching, null)
})

test('keys that are no longer the latest need no fetch', async t => {
  let text = keySetOf(issuerKey())
  const { set, clock, begun } = await start(t, () => ok(text))
  const first = (await set.latest())!
  text = keySetOf(issuerKey())
  const latest = await set.renewed(first)
  clock.advance(minute)
  assert.deepEqual([set.renewed(first) === latest, begun()], [true, 2])
})

test('what comes must be a key set from an address that is allowed, and trusted', async t => {
  const keys = keySetOf(issuerKey())
  const server = await startResponder(t, ok(keys))
  const { port } = new URL(server.url)
  const certificate = selfSigned('localhost')
  const secure = createServer({ cert: certificate.cert, key: certificate.key }, (_, response) =>
    response.end(keys),
  )
  await new Promise<void>(resolve => secure.listen(0, '127.0.0.1', resolve))
  t.after(() => secure.close())
  const https = `https://localhost:${(secure.address() as AddressInfo).port}`
  const empty = await startResponder(t, ok('{}'))
  const large = await startResponder(t, ok(`{"keys":[],"x":"${'x'.repeat(256 * 1024)}"}`))
  const allowed = (address: string) => address === '127.0.0.1' || address === '::1'
  const prohibited = /not on the public Internet, and not in allow_networks/
  for (const [url, ca, isAllowed, failure] of [
    [server.url, null, allowed, null],
    [`http://localhost:${port}`, null, allowed, null],
    [server.url, null, () => false, prohibited],
    [`http://localhost:${port}`, null, () => false, prohibited],
    [empty.url, null, allowed, /^no key set$/],
    [large.url, null, allowed, /^more than 256 KiB$/],
    ['http://127.0.0.1:1', null, allowed, /^ECONNREFUSED$/],
    [https, certificate.cert.toString(), allowed, null],
    [https, null, allowed, /^DEPTH_ZERO_SELF_SIGNED_CERT$/],
  ] as const) {
    const { set, changes } = setAt(url, ca, isAllowed)
    assert.equal((await set.latest()) === null, failure !== null, url)
    if (failure === null) assert.deepEqual(changes, [])
    else assert.match(changes.join(), failure)
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
