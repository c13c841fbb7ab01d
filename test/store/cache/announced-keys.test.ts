import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  type AnnouncedKey,
  KeyAnnouncer,
  AnnouncedKeyLoader,
  LatestKeys,
} from '../../../src/store/cache/announced-keys.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'

const digests = (count: number): AnnouncedKey[] =>
  Array.from({ length: count }, (_, i) => ['token', String(i)])

function mockTimers(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] })
}

test('a key is announced at once, up to ten messages in 100 ms; later ones follow together', async t => {
  mockTimers(t)
  const sent: (readonly AnnouncedKey[])[] = []
  const post = new KeyAnnouncer(async keys => sent.push(keys))
  const keys = digests(14)
  for (const found of keys.slice(0, 10)) {
    post.add(found)
    await turn()
  }
  assert.deepEqual(
    sent,
    keys.slice(0, 10).map(found => [found]),
  )
  for (const found of [...keys.slice(10), keys[11]!]) post.add(found)
  t.mock.timers.tick(99)
  assert.equal(sent.length, 10)
  t.mock.timers.tick(1)
  assert.deepEqual(sent.slice(10), [keys.slice(10)])
})

test('no more than 1,000 keys are announced in 100 ms, and none before the last message was accepted', async t => {
  mockTimers(t)
  const sent: number[] = []
  const taken = Promise.withResolvers<void>()
  const post = new KeyAnnouncer(keys => {
    sent.push(keys.length)
    return sent.length === 3 ? taken.promise : Promise.resolve()
  })
  for (const found of digests(5_000)) post.add(found)
  await turn()
  assert.deepEqual(sent, [1, 999])
  t.mock.timers.tick(100)
  for (const found of digests(10)) post.add(found)
  t.mock.timers.tick(1_000)
  await turn()
  assert.deepEqual(sent, [1, 999, 1])
  taken.resolve()
  await turn()
  assert.deepEqual(sent, [1, 999, 1, 9])
})

test('the latest 10,000 keys are kept, without duplicates', () => {
  const keys = new LatestKeys()
  for (const found of [...digests(10_500), ...digests(10_500)]) keys.add(found)
  assert.deepEqual(keys.all, digests(10_500).slice(500))
  keys.add(['token', '600'])
  assert.deepEqual([keys.count, keys.all.at(-1), keys.take()], [10_000, ['token', '600'], ['token', '500']])
})

test('what others have found is loaded a few at a time', async () => {
  const asked: (() => void)[] = []
  const reader = new AnnouncedKeyLoader(() => new Promise(resolve => asked.push(resolve)))
  reader.hear(digests(20))
  await turn()
  assert.equal(asked.length, 8)
  asked[0]!()
  await turn()
  assert.equal(asked.length, 9)
})

test('while the store is unreachable keys wait, and are loaded when it is back; a key that fails otherwise is dropped', async t => {
  mockTimers(t)
  const asked: string[] = []
  let isUnreachable = true
  const reader = new AnnouncedKeyLoader(async ([, key]) => {
    asked.push(key)
    if (isUnreachable) throw new StoreUnreachable()
    if (key === '3') throw new Error('a record that cannot be read')
  })
  reader.hear(digests(30))
  const awaited = () => digests(40).filter(found => reader.awaits(found))
  assert.deepEqual(awaited(), digests(30))
  await turn()
  assert.equal(asked.length, 8, 'no more than were asked at once')
  assert.deepEqual(awaited(), digests(30))
  t.mock.timers.tick(999)
  await turn()
  assert.equal(asked.length, 8)
  isUnreachable = false
  t.mock.timers.tick(1)
  await turn()
  assert.equal(new Set(asked.slice(8)).size, 30)
  assert.deepEqual(awaited(), [])
  t.mock.timers.tick(10_000)
  await turn()
  assert.equal(asked.length, 38)
  reader.close()
})
