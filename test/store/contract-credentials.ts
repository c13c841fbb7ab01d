// The promises of a store about credentials: how they are found, that one is consumed once, when they end, and by whom they are listed and removed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Credential, CredentialKind, CredentialOwner } from '../../src/store/records/credential.ts'
import type { Place } from './contract.ts'
import { startConsumer } from './consumers.ts'
import { ContractClock } from './contract-clock.ts'
import { credential, hex } from './contract-specimens.ts'

const kinds = [
  ...['session', 'invitation', 'interaction', 'oidc_session'],
  ...['authorization_code', 'access_token', 'refresh_token', 'sign_in', 'site_code', 'site_session'],
] as CredentialKind[]
const hour = 3_600_000

export function credentialsContract(name: string, place: Place): void {
  test(`${name}: a credential is found by its kind and digest, as it was given, and by nothing else`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    for (const kind of kinds) {
      const full = credential(kind)
      const bare = credential(kind, { user: null, client: null, grant: null, data: null })
      for (const kept of [full, bare]) {
        assert.equal(await credentials.get(kind, kept.digest), null)
        assert.equal(await credentials.put(kept), true)
        assert.deepEqual(await other.credentials.get(kind, kept.digest), kept)
        for (const another of kinds.filter(one => one !== kind))
          assert.equal(await credentials.get(another, kept.digest), null)
      }
    }
    assert.equal(await credentials.get('session', hex(32)), null)
    assert.equal(await credentials.get('session', ''), null)
  })

  test(`${name}: the same digest is another credential in another kind`, async t => {
    const { credentials } = await (await place(t))()
    const digest = hex(32)
    const all = kinds.map((kind, i) => credential(kind, { digest, data: i }))
    await credentials.putAll(all)
    for (const one of all) assert.deepEqual(await credentials.get(one.kind, digest), one)
    assert.equal(await credentials.remove('session', digest), true)
    assert.equal((await credentials.consume('sign_in', digest, 7))?.isFirst, true)
    assert.deepEqual(await credentials.get('access_token', digest), all[5])
    assert.equal(await credentials.get('session', digest), null)
  })

  test(`${name}: what is no digest, such as a value, is not kept, nor what has too much data or no ids`, async t => {
    const { credentials } = await (await place(t))()
    const value = `svco_${'A'.repeat(59)}`
    const wrong: Partial<Credential>[] = [
      ...[value, hex(31), hex(32).toUpperCase().replace(/\d/g, 'A'), ''].map(digest => ({ digest })),
      ...['a b', '', 'x'.repeat(65), '-/'].map(user => ({ user })),
      { client: 'a,b' },
      { grant: 'a\nb' },
      { data: 'x'.repeat(64 * 1024) },
      { expiresAt: Date.now() + 0.5 },
    ]
    for (const more of wrong) {
      await assert.rejects(credentials.put(credential('session', more)), TypeError)
      const all = [credential('session', { digest: hex(32) }), credential('session', more)]
      await assert.rejects(credentials.putAll(all), TypeError)
      assert.equal(await credentials.get('session', all[0]!.digest), null)
    }
    assert.equal(await credentials.get('session', value), null)
    assert.equal(await credentials.consume('session', value, 1), null)
    assert.equal(await credentials.remove('session', value), false)
    const large = credential('session', { data: 'x'.repeat(64 * 1024 - 2) })
    await credentials.put(large)
    assert.deepEqual(await credentials.get('session', large.digest), large)
  })

  test(`${name}: what is put again takes the place of what was there, but stays consumed`, async t => {
    const { credentials } = await (await place(t))()
    const kept = credential('refresh_token')
    await credentials.put(kept)
    const next = { ...kept, user: null, grant: hex(16), data: ['next'], expiresAt: kept.expiresAt + hour }
    await credentials.put(next)
    assert.deepEqual(await credentials.get(kept.kind, kept.digest), next)
    await credentials.consume(kept.kind, kept.digest, 12)
    assert.equal(await credentials.put(kept), true)
    assert.deepEqual(await credentials.get(kept.kind, kept.digest), { ...kept, consumedAt: 12 })
    await credentials.put({ ...kept, consumedAt: 13 })
    assert.equal((await credentials.get(kept.kind, kept.digest))?.consumedAt, 12)
    const used = credential('refresh_token', { consumedAt: 14 })
    await credentials.put(used)
    assert.deepEqual(await credentials.get(used.kind, used.digest), used)
  })

  test(`${name}: what was removed, consumed or has expired is not put where it must be present`, async t => {
    const clock = new ContractClock()
    const { credentials } = await (await place(t))(clock)
    const [kept, removed, consumed, ended] = Array.from({ length: 4 }, () => credential('session')) as [
      Credential,
      Credential,
      Credential,
      Credential,
    ]
    assert.equal(await credentials.put(kept, 'present'), false)
    assert.equal(await credentials.get('session', kept.digest), null)
    await credentials.putAll([kept, removed, consumed, { ...ended, expiresAt: clock.now() + hour / 2 }])
    await credentials.remove('session', removed.digest)
    await credentials.consume('session', consumed.digest, 5)
    clock.advance(hour / 2 + 1_000)
    for (const one of [removed, consumed, ended]) {
      const later = { ...one, expiresAt: clock.now() + hour }
      assert.equal(await credentials.put(later, 'present'), false)
    }
    assert.equal(await credentials.get('session', removed.digest), null)
    assert.equal((await credentials.get('session', consumed.digest))?.consumedAt, 5)
    assert.equal(await credentials.get('session', ended.digest), null)
    const next = { ...kept, data: 'next', expiresAt: clock.now() + hour }
    assert.equal(await credentials.put(next, 'present'), true)
    assert.deepEqual(await credentials.get('session', kept.digest), next)
  })

  test(`${name}: of 20 who consume one at once, one is the first, and all others get the time of that one`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    for (let round = 0; round < 5; round++) {
      const kept = credential('authorization_code')
      await stores[0]!.credentials.put(kept)
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          stores[i % 2]!.credentials.consume('authorization_code', kept.digest, 1_000 + i),
        ),
      )
      const first = outcomes.findIndex(outcome => outcome!.isFirst)
      assert.equal(outcomes.filter(outcome => outcome!.isFirst).length, 1)
      const consumed = { ...kept, consumedAt: 1_000 + first }
      for (const outcome of outcomes) assert.deepEqual(outcome!.credential, consumed)
      assert.deepEqual(await stores[1]!.credentials.get('authorization_code', kept.digest), consumed)
    }
    assert.equal(await stores[0]!.credentials.consume('authorization_code', hex(32), 1), null)
  })

  test(`${name}: of two processes that consume ten times at once each, one is the first once`, async t => {
    const open = await place(t)
    const store = await open()
    const consumers = await Promise.all([startConsumer(t, store.location), startConsumer(t, store.location)])
    for (let round = 0; round < 5; round++) {
      const kept = credential('authorization_code')
      await store.credentials.put(kept)
      const outcomes = (await Promise.all(consumers.map(consume => consume(`consume ${kept.digest}`)))).flat()
      assert.equal(outcomes.length, 20)
      const firsts = outcomes.filter(([isFirst]) => isFirst)
      assert.equal(firsts.length, 1)
      for (const [, at] of outcomes) assert.equal(at, firsts[0]![1])
    }
  })

  test(`${name}: a credential that has expired is not there for anybody`, async t => {
    const clock = new ContractClock()
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(clock), open(clock)])
    const owner = { user: hex(16) }
    const [short, long] = [10_000, hour].map(life =>
      credential('access_token', { ...owner, expiresAt: clock.now() + life }),
    ) as [Credential, Credential]
    await credentials.putAll([short, long])
    assert.deepEqual(await credentials.list(owner, 'access_token', 10), [long, short])
    clock.advance(11_000)
    assert.equal(await other.credentials.get('access_token', short.digest), null)
    assert.equal(await other.credentials.consume('access_token', short.digest, 1), null)
    assert.equal(await other.credentials.remove('access_token', short.digest), false)
    assert.deepEqual(await other.credentials.list(owner, 'access_token', 10), [long])
    assert.equal(await other.credentials.removeOf(owner), 1)
    const again = { ...short, expiresAt: clock.now() + hour }
    await credentials.put({ ...again, expiresAt: clock.now() + 5_000 })
    await credentials.consume('access_token', short.digest, 3)
    clock.advance(6_000)
    await credentials.put(again)
    assert.deepEqual(await other.credentials.get('access_token', short.digest), again)
  })

  test(`${name}: one that is put with its end behind it is not there`, async t => {
    const { credentials } = await (await place(t))()
    const late = credential('session', { expiresAt: Date.now() - 1_000 })
    await credentials.put(late)
    assert.equal(await credentials.get('session', late.digest), null)
    assert.deepEqual(await credentials.list({ user: late.user! }, 'session', 5), [])
  })

  test(`${name}: credentials are listed by owner and kind, what expires last first, up to the limit`, async t => {
    const { credentials } = await (await place(t))()
    const [person, app] = [hex(16), hex(16)]
    const sessions = Array.from({ length: 450 }, (_, i) =>
      credential('session', {
        user: person,
        client: i % 3 ? null : app,
        expiresAt: Date.now() + hour + i * 1_000,
      }),
    )
    await Promise.all(sessions.map(one => credentials.put(one)))
    await credentials.putAll([credential('session'), credential('sign_in', { user: person })])
    const ordered = sessions.toReversed()
    assert.deepEqual(await credentials.list({ user: person }, 'session', 1_000), ordered)
    assert.deepEqual(await credentials.list({ user: person }, 'session', Infinity), ordered)
    assert.deepEqual(await credentials.list({ user: person }, 'session', 7), ordered.slice(0, 7))
    assert.deepEqual(await credentials.list({ user: person }, 'session', 0), [])
    const both = ordered.filter(({ client }) => client === app)
    assert.deepEqual(await credentials.list({ user: person, client: app }, 'session', 1_000), both)
    assert.deepEqual(await credentials.list({ client: app }, 'session', 3), both.slice(0, 3))
    assert.deepEqual(await credentials.list({ user: person }, 'access_token', 9), [])
    assert.deepEqual(await credentials.list({ grant: person }, 'session', 9), [])
    await credentials.remove('session', ordered[0]!.digest)
    await credentials.put({ ...ordered[9]!, expiresAt: ordered[0]!.expiresAt })
    const [first] = await credentials.list({ user: person }, 'session', 1)
    assert.equal(first!.digest, ordered[9]!.digest)
    await assert.rejects(credentials.list({}, 'session', 9), TypeError)
  })

  test(`${name}: what is of a user, a client or a grant is removed together, and nothing else`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    const owners: readonly CredentialOwner[] = [{ user: hex(16) }, { client: hex(16) }, { grant: hex(16) }]
    for (const owner of owners) {
      const theirs = Array.from({ length: 30 }, (_, i) => credential(kinds[i % 8]!, owner))
      const stranger = credential('access_token')
      await credentials.putAll([...theirs, stranger])
      const [tokens, rest] = [['access_token', 'refresh_token'] as const, 30 - 8]
      assert.equal(await other.credentials.removeOf(owner, tokens), 8 - 1)
      for (const one of theirs) {
        const isGone = (tokens as readonly string[]).includes(one.kind)
        assert.equal((await credentials.get(one.kind, one.digest)) === null, isGone, one.kind)
      }
      assert.equal(await other.credentials.removeOf(owner), rest + 1)
      assert.equal(await other.credentials.removeOf(owner), 0)
      for (const one of theirs) assert.equal(await credentials.get(one.kind, one.digest), null)
      assert.deepEqual(await credentials.get('access_token', stranger.digest), stranger)
    }
    await assert.rejects(credentials.removeOf({}), TypeError)
  })

  test(`${name}: with two owners given, what is of both is removed`, async t => {
    const { credentials } = await (await place(t))()
    const [user, client] = [hex(16), hex(16)]
    const [both, his, its] = [{ user, client }, { user }, { client }].map(owner =>
      credential('access_token', owner),
    ) as [Credential, Credential, Credential]
    await credentials.putAll([both, his, its])
    assert.equal(await credentials.removeOf({ user, client }), 1)
    assert.equal(await credentials.get('access_token', both.digest), null)
    for (const one of [his, its]) assert.deepEqual(await credentials.get('access_token', one.digest), one)
  })

  test(`${name}: what came to another owner is not removed with the first one's`, async t => {
    const { credentials } = await (await place(t))()
    const kept = credential('oidc_session')
    const moved = { ...kept, user: hex(16), grant: null }
    await credentials.put(kept)
    await credentials.put(moved)
    assert.equal(await credentials.removeOf({ user: kept.user! }), 0)
    assert.equal(await credentials.removeOf({ grant: kept.grant! }), 0)
    assert.deepEqual(await credentials.list({ user: kept.user! }, 'oidc_session', 5), [])
    assert.deepEqual(await credentials.list({ user: moved.user }, 'oidc_session', 5), [moved])
    assert.equal(await credentials.removeOf({ user: moved.user }), 1)
    assert.equal(await credentials.get('oidc_session', kept.digest), null)
  })

  test(`${name}: of more credentials than go in one step, none is left, though others are put meanwhile`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    const owner = { client: hex(16) }
    const many = Array.from({ length: 1_300 }, () => credential('access_token', owner))
    for (let at = 0; at < many.length; at += 100) await credentials.putAll(many.slice(at, at + 100))
    const more = Array.from({ length: 40 }, () => credential('access_token', owner))
    const [removed] = await Promise.all([
      credentials.removeOf(owner),
      ...more.map(one => other.credentials.put(one)),
    ])
    assert.ok(removed >= 1_300)
    for (const { digest } of many) assert.equal(await other.credentials.get('access_token', digest), null)
    await credentials.removeOf(owner)
    assert.deepEqual(await other.credentials.list(owner, 'access_token', 9), [])
  })

  test(`${name}: many are put together or not at all, by any number of writers at once`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const pairs = Array.from({ length: 60 }, () => [credential('access_token'), credential('refresh_token')])
    await Promise.all(pairs.map((pair, i) => stores[i % 2]!.credentials.putAll(pair)))
    for (const one of pairs.flat())
      assert.deepEqual(await stores[1]!.credentials.get(one.kind, one.digest), one)
    await stores[0]!.credentials.putAll([])
  })

  test(`${name}: whatever is put, consumed and removed, what is there is what must be`, async t => {
    const clock = new ContractClock()
    const open = await place(t)
    const stores = await Promise.all([open(clock), open(clock)])
    const step = fc.record({
      action: fc.constantFrom('put', 'put', 'present', 'consume', 'remove', 'removeOf', 'wait'),
      which: fc.nat(3),
      owner: fc.nat(1),
      life: fc.constantFrom(30_000, 90_000),
      store: fc.nat(1),
    } as const)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
        const [digests, owners] = [Array.from({ length: 4 }, () => hex(32)), [hex(16), hex(16)]]
        const model = new Map<string, Credential>()
        let at = 0
        for (const { action, which, owner, life, store } of steps) {
          const { credentials } = stores[store]!
          const [digest, user] = [digests[which]!, owners[owner]!]
          const next = credential('session', { digest, user, data: ++at, expiresAt: clock.now() + life })
          const old = model.get(digest)
          if (action === 'wait') clock.advance(45_000)
          else if (action === 'remove') {
            assert.equal(await credentials.remove('session', digest), old !== undefined)
            model.delete(digest)
          } else if (action === 'removeOf') {
            const theirs = [...model.values()].filter(one => one.user === user)
            assert.equal(await credentials.removeOf({ user }), theirs.length)
            for (const one of theirs) model.delete(one.digest)
          } else if (action === 'consume') {
            const outcome = await credentials.consume('session', digest, at)
            assert.equal(outcome?.isFirst, old && old.consumedAt === null)
            if (old) model.set(digest, { ...old, consumedAt: old.consumedAt ?? at })
            assert.deepEqual(outcome?.credential, model.get(digest))
          } else if (action === 'present') {
            const isDone = old !== undefined && old.consumedAt === null
            assert.equal(await credentials.put(next, 'present'), isDone)
            if (isDone) model.set(digest, next)
          } else {
            await credentials.put(next)
            model.set(digest, { ...next, consumedAt: old?.consumedAt ?? null })
          }
          for (const one of model.values()) if (one.expiresAt < clock.now() + 10_000) model.delete(one.digest)
          for (const one of digests)
            assert.deepEqual(await stores[1 - store]!.credentials.get('session', one), model.get(one) ?? null)
          const listed = await credentials.list({ user }, 'session', 9)
          const theirs = [...model.values()].filter(one => one.user === user)
          assert.deepEqual(listed.map(one => one.digest).toSorted(), theirs.map(one => one.digest).toSorted())
        }
      }),
      { numRuns: 25 },
    )
  })
}
