import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { FirstFill } from '../../src/process/store/first-start.ts'
import { openStore } from '../../src/store/open.ts'
import { type Change, type Store, StoreUnreachable } from '../../src/store/contract/store.ts'
import { type TokenKey, tokenKeyId, tokenKeyOwner } from '../../src/store/records/token-key.ts'
import { isWellFormed, mintToken, taggerOf } from '../../src/tokens/token.ts'
import { keyOf, newTokenKey, TokenTags } from '../../src/tokens/token-tags.ts'
import { anyCharacter } from '../help/any-text.ts'
import { ManualClock } from '../help/clock.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'
import { account, tokenWith } from './token-with.ts'

async function open(t: TestContext, url = 'sqlite::memory:'): Promise<Store> {
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  return store
}

async function tagsOf(store: Store): Promise<TokenTags> {
  const tags = new TokenTags(store)
  await tags.open()
  return tags
}

const forged = (prefix: 'svct_' | 'svco_' = 'svct_') => mintToken(prefix, taggerOf(randomBytes(32))).value

for (const prefix of ['svct_', 'svco_'] as const)
  test(`what begins with ${prefix} may be kept where it was minted under the key of the store, and else not`, async t => {
    const store = await open(t)
    await new FirstFill(store).run(0)
    const tags = await tagsOf(store)
    const { value } = await tags.mint(prefix)
    assert.match(value, new RegExp(`^${prefix}[\\w-]{60}$`))
    assert.ok(isWellFormed(value, prefix) && tags.mayExist(value))
    for (const other of [forged(prefix), mintToken(prefix).value]) {
      assert.ok(isWellFormed(other, prefix))
      assert.equal(tags.mayExist(other), false)
    }
  })

test('of a token without a tag, the key lists 16 hex digits of its digest', () => {
  const digest = '0123456789abcdef'.repeat(4)
  assert.deepEqual(newTokenKey(0, [digest]).untagged, ['0123456789abcdef'])
})

test('a value that is no token is tagged under the key of the store, too', async t => {
  const [store, another] = [await open(t), await open(t)]
  await new FirstFill(store).run(0)
  const tags = await tagsOf(store)
  const secret = randomBytes(32).toString('base64url')
  const value = await tags.tagged(secret)
  assert.match(value, new RegExp(`^${secret}[\\w-]{11}$`))
  assert.equal(tags.mayBeTagged(value), true)
  const token = (await tags.mint('svct_')).value
  const others = [
    secret,
    `${value}A`,
    token,
    secret + token.slice(-11),
    await new TokenTags(another).tagged(secret),
  ]
  for (const other of others) assert.equal(tags.mayBeTagged(other), false, other)
  assert.equal(new TokenTags(store).mayBeTagged(secret), true)
})

test('changing, dropping, adding or swapping any character of a token makes it malformed', async t => {
  const store = await open(t)
  await new FirstFill(store).run(0)
  const tags = await tagsOf(store)
  const passes = (value: string) => isWellFormed(value) && tags.mayExist(value)
  const { value } = await tags.mint('svct_')
  const character = fc.oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
    fc.stringMatching(/^[\w-]$/),
  )
  fc.assert(
    fc.property(fc.nat(value.length - 1), character, (at, other) => {
      const [before, behind] = [value.slice(0, at), value.slice(at + 1)]
      for (const changed of [before + other + behind, before + behind, before + other + value[at] + behind])
        assert.equal(passes(changed), changed === value, changed)
      const swapped = before + behind.slice(0, 1) + value[at] + behind.slice(1)
      assert.equal(passes(swapped), swapped === value, swapped)
    }),
    { numRuns: 2_000 },
  )
})

test('a given first token may be kept without a tag, and no other one', async t => {
  const store = await open(t)
  const given = mintToken()
  await new FirstFill(store, given.value).run(0)
  const tags = await tagsOf(store)
  assert.ok(tags.mayExist(given.value))
  assert.equal(tags.mayExist(mintToken().value), false)
  assert.equal(tags.mayExist(forged()), false)
  assert.ok(tags.mayExist((await tags.mint('svct_')).value))
})

/** A store from before there were keys, with tokens in two accounts. */
async function oldStore(store: Store) {
  const kept = [tokenWith(), tokenWith(), tokenWith({ account: 'e'.repeat(32) })]
  for (const id of [account, 'e'.repeat(32)]) await store.accounts.insert({ id, name: 'old', createdAt: 0 })
  for (const { token } of kept) await store.tokens.insert(token)
  return kept
}

for (const [name, urlOf] of [
  ['SQLite', async (t: TestContext) => `sqlite:${temporaryFile(t)}`],
  ['Redis', async (t: TestContext) => (await startRedis(t)).url],
] as const)
  test(`tokens from before the key may be kept, and of twenty that make one at once all have the same (${name})`, async t => {
    const url = await urlOf(t)
    const [store, other] = [await open(t, url), await open(t, url)]
    const kept = await oldStore(store)
    const tags = await tagsOf(other)
    assert.ok(tags.mayExist(forged()), 'nobody knows better without a key')
    const keys = await Promise.all(Array.from({ length: 20 }, (_, i) => keyOf(i % 2 ? store : other, i)))
    assert.equal(new Set(keys.map(({ key }) => key)).size, 1)
    await until(() => !tags.mayExist(forged()))
    for (const { value } of kept) assert.ok(tags.mayExist(value))
    assert.equal(tags.mayExist(mintToken().value), false)
    const { value } = await (await tagsOf(store)).mint('svct_')
    assert.ok(tags.mayExist(value))
  })

test('a key that was lost is made again, for which tokens with tags of the old one may be kept', async t => {
  const store = await open(t)
  await new FirstFill(store).run(0)
  const { id } = (await store.accounts.list())[0]!
  const { value, digest } = await new TokenTags(store).mint('svct_')
  await store.tokens.insert({ ...tokenWith().token, account: id, digest })
  await store.tokenKeys.remove(tokenKeyOwner, tokenKeyId)
  await keyOf(store, 1)
  const tags = await tagsOf(store)
  assert.ok(tags.mayExist(value))
  assert.equal(tags.mayExist(forged()), false)
})

/** A store whose key can be replaced and kept back. */
function steered() {
  const clock = new ManualClock()
  const place: { key: TokenKey | null; isUnreachable: boolean; asked: number } = {
    ...{ key: newTokenKey(0), isUnreachable: false, asked: 0 },
  }
  const listeners: ((change: Change) => void)[] = []
  const store = {
    changes: { follow: (listener: (change: Change) => void) => listeners.push(listener) },
    tokenKeys: {
      get: async () => {
        place.asked++
        if (place.isUnreachable) throw new StoreUnreachable()
        return place.key && { record: place.key, version: 1 }
      },
    },
  } as unknown as Store
  const tell = (change: Change) => {
    for (const listener of listeners) listener(change)
  }
  return { clock, place, tell, tags: new TokenTags(store, clock) }
}

test('a store that cannot be reached is asked for its key once a second, and the key is kept when it goes away', async () => {
  const { clock, place, tags, tell } = steered()
  place.isUnreachable = true
  await tags.open()
  for (let i = 0; i < 5; i++) assert.ok(tags.mayExist(forged()))
  assert.equal(place.asked, 1)
  await assert.rejects(tags.mint('svct_'), StoreUnreachable)
  place.isUnreachable = false
  clock.advance(1_000)
  assert.ok(tags.mayExist(forged()))
  await until(() => !tags.mayExist(forged()))
  place.isUnreachable = true
  tell({ kind: 'everything' })
  await until(() => place.asked === 4)
  assert.equal(tags.mayExist(forged()), false)
})

test('a key that was replaced is read again, and changes of other records are not', async () => {
  const { place, tags, tell } = steered()
  await tags.open()
  const before = (await tags.mint('svct_')).value
  tell({ kind: 'token', account, id: 'x' })
  assert.equal(place.asked, 1)
  place.key = newTokenKey(1)
  tell({ kind: 'token_key', account: tokenKeyOwner, id: tokenKeyId })
  await until(() => !tags.mayExist(before))
  assert.ok(tags.mayExist((await tags.mint('svct_')).value))
})
