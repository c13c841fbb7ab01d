// The rotation of keys that sign: what is published, and when, so that no token of a moment ago fails.

import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { day, hour } from '../../src/base/units.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import type { Logger } from '../../src/log/log.ts'
import { openStore } from '../../src/store/open.ts'
import { type Jwk, type KeySet, SigningKeys } from '../../src/tokens/signing-keys.ts'
import { ManualClock } from '../help/clock.ts'
import { until } from '../help/until.ts'

const secretsOf = (byte: number) => new SecretKeys(Buffer.alloc(32, byte))

async function start(t: TestContext) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const logged: unknown[] = []
  const note = (...line: unknown[]) => void logged.push(line)
  const log = { info: note, warn: note } as unknown as Logger
  const keys = (secrets: SecretKeys | null = secretsOf(1)) =>
    new SigningKeys({ owner: 'identity', store, secrets: () => secrets, log, clock })
  return { store, clock, logged, keys }
}

/** Signs with the first private key, and returns the ids of the public ones that verify it. */
function idsFor({ signing, published }: KeySet): readonly (string | undefined)[] {
  const [jwk] = signing
  const text = Buffer.from('text')
  const signature = sign('sha256', text, createPrivateKey({ key: { ...jwk! }, format: 'jwk' }))
  const isOfKey = (key: Jwk) =>
    verify('sha256', text, createPublicKey({ key: { ...key }, format: 'jwk' }), signature)
  return published.filter(isOfKey).map(({ kid }) => kid)
}

const publishedIn = ({ published }: KeySet) => published.map(({ kid }) => kid)

test('the first key signs at once, and its public half is published', async t => {
  const { keys, logged } = await start(t)
  const all = keys()
  const [set, same] = await Promise.all([all.current(), all.current()])
  assert.equal(set, same)
  const [{ d, ...rest }] = set.signing as [Jwk]
  assert.equal(d!.length, 43)
  assert.deepEqual([set.published, set.signing.length], [[rest], 1])
  assert.partialDeepStrictEqual(rest, {
    kty: 'EC',
    crv: 'P-256',
    alg: 'ES256',
    use: 'sig',
    kid: 'identity-1',
  })
  assert.deepEqual([set.name, idsFor(set)], ['identity-1', ['identity-1']])
  assert.equal((await keys().current()).name, set.name)
  assert.deepEqual(logged, [[{ key: 'identity-1' }, 'created a signing key']])
})

test('each key is published a day before it signs, and an hour and a day after its last signature', async t => {
  const { keys, clock, store } = await start(t)
  const begin = clock.now()
  const setAt = (age: number) => {
    clock.advance(begin + age - clock.now())
    return keys().current()
  }
  for (const [age, name, published] of [
    [0, 'identity-1', ['identity-1']],
    [89 * day - 1, 'identity-1', ['identity-1']],
    [89 * day, 'identity-1 identity-2', ['identity-1', 'identity-2']],
    [90 * day - 1, 'identity-1 identity-2', ['identity-1', 'identity-2']],
    [90 * day, 'identity-2 identity-1', ['identity-1', 'identity-2']],
    [91 * day + hour - 1, 'identity-2 identity-1', ['identity-1', 'identity-2']],
    [91 * day + hour, 'identity-2', ['identity-2']],
    [178 * day, 'identity-2 identity-3', ['identity-2', 'identity-3']],
  ] as const) {
    const set = await setAt(age)
    assert.deepEqual([set.name, publishedIn(set)], [name, published], String(age / day))
    assert.deepEqual(idsFor(set), [name.split(' ')[0]])
  }
  const { items } = await store.signingKeys.list('identity', { offset: 0, limit: 10 })
  assert.deepEqual(
    items.map(({ id }) => id),
    ['identity-2', 'identity-3'],
  )
  store.signingKeys.remove = () => Promise.reject(new Error('away'))
  await assert.rejects(setAt(181 * day), /away/)
})

test('processes that make a key at the same time agree on one', async t => {
  const { keys, logged } = await start(t)
  const sets = await Promise.all([keys(), keys(), keys()].map(one => one.current()))
  for (const { signing } of sets) assert.deepEqual(signing, sets[0]!.signing)
  assert.equal(logged.length, 1)
})

test('a set is kept for a minute, then read again beside those who get it, whether or not the store is there', async t => {
  const { keys, clock, store } = await start(t)
  const all = keys()
  const first = await all.current()
  let reads = 0
  const { list } = store.signingKeys
  store.signingKeys.list = (...page) => {
    reads++
    return list.apply(store.signingKeys, page)
  }
  clock.advance(60_000)
  assert.equal(await all.current(), first)
  assert.equal(reads, 0)
  clock.advance(89 * day)
  assert.equal(await all.current(), first)
  await until(async () => (await all.current()) !== first)
  assert.equal((await all.current()).name, 'identity-1 identity-2')
  store.signingKeys.list = () => {
    reads++
    return Promise.reject(new Error('away'))
  }
  for (let i = 0; i < 2; i++) {
    clock.advance(60_001)
    reads = 0
    assert.equal((await all.current()).name, 'identity-1 identity-2')
    await until(() => reads === 1)
  }
  await assert.rejects(keys().current(), /away/)
})

test('a key that cannot be opened is published, but another one signs', async t => {
  const { keys, logged, store } = await start(t)
  await keys().current()
  logged.length = 0
  const set = await keys(secretsOf(2)).current()
  assert.deepEqual([set.name, publishedIn(set)], ['identity-2', ['identity-1', 'identity-2']])
  assert.deepEqual(idsFor(set), ['identity-2'])
  assert.match(JSON.stringify(logged), /signing keys unreadable.*created a signing key/)
  const { items } = await store.signingKeys.list('identity', { offset: 0, limit: 10 })
  // One that was sealed for another id.
  await store.signingKeys.insert({ ...items[1]!, id: 'identity-3' })
  assert.equal((await keys(secretsOf(2)).current()).name, 'identity-2')
  // Another process makes one that this one cannot open.
  store.signingKeys.insert = async () => false
  assert.deepEqual((await keys(secretsOf(3)).current()).signing, [])
})

test('keys of one purpose never sign for another, and none is made before it can be sealed', async t => {
  const { keys, store, clock } = await start(t)
  await assert.rejects(keys(null).current(), /not made yet/)
  await keys().current()
  await assert.rejects(keys(null).current(), /not made yet/)
  const log = { info: () => {}, warn: () => {} } as unknown as Logger
  const ofOAuth = new SigningKeys({ owner: 'oauth', store, secrets: () => secretsOf(1), log, clock })
  assert.deepEqual(
    [(await ofOAuth.current()).name, (await keys().current()).name],
    ['gatehouse-1', 'identity-1'],
  )
})
