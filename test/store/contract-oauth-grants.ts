// The promises of a store about OAuth grants beside those for all records, and about the authorization events of clients.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AuthorizationEvent } from '../../src/store/records/authorization-event.ts'
import type { OAuthGrant } from '../../src/store/records/oauth-grant.ts'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { authorizationEvent, hex, oauthGrant, signingKey } from './contract-specimens.ts'

const all = { offset: 0, limit: 1000 }
const day = 86_400_000
/** Characters that stand for something where names are kept. */
const awkward = ['https://a.example/x,~y,!z w/%2F"\\/é🦊', 'https://b.example/\u2028']

export function oauthGrantsContract(name: string, place: Place): void {
  test(`${name}: a grant is found by user, client, account and resources, and by nothing less`, async t => {
    const open = await place(t)
    const [{ oauthGrants }, other] = await Promise.all([open(), open()])
    const kept = oauthGrant()
    const beside = oauthGrant({ user: kept.user, client: kept.client })
    const { user, client, account, id } = kept
    const resources = [[], ['https://ai.example/'], ['https://ai.example/', ...kept.resource], awkward]
    const elsewhere = resources.map(resource => oauthGrant({ user, client, account, resource }))
    for (const one of [kept, beside, ...elsewhere]) assert.equal(await oauthGrants.insert(one), true)
    assert.deepEqual(await other.oauthGrants.find(kept), await oauthGrants.get(account, id))
    for (const one of [kept, beside, ...elsewhere])
      assert.deepEqual((await other.oauthGrants.find(one))?.record, one)
    for (const less of [
      { user: hex(16) },
      { client: hex(16) },
      { account: hex(16) },
      { user: client, client: user },
      { resource: ['https://gateway.example/client'] },
      { resource: elsewhere[2]!.resource.toReversed() },
      { resource: [JSON.stringify(kept.resource)] },
    ])
      assert.equal(await oauthGrants.find({ ...kept, ...less }), null)
    for (const one of elsewhere) assert.equal(await oauthGrants.remove(account, one.id), true)
    for (const one of elsewhere) assert.equal(await other.oauthGrants.find(one), null)
    const { version } = (await oauthGrants.get(account, id))!
    const grown = { ...kept, scopes: [...kept.scopes, 'account.read'], updatedAt: kept.updatedAt + 1 }
    assert.equal(await oauthGrants.replace(grown, version), true)
    assert.deepEqual((await other.oauthGrants.find(kept))?.record, grown)
    assert.equal(await other.oauthGrants.count(), 2)
    assert.equal(await oauthGrants.remove(account, id), true)
    assert.equal(await other.oauthGrants.count(), 1)
    assert.equal(await other.oauthGrants.find(kept), null)
    assert.equal(await oauthGrants.insert({ ...kept, id: hex(16) }), true)
  })

  test(`${name}: a grant from before redirect hosts were kept stays as it is, beside one that is found`, async t => {
    const open = await place(t)
    const [{ oauthGrants }, other] = await Promise.all([open(), open()])
    const { redirectHosts: _, ...old } = oauthGrant()
    const next = { ...oauthGrant(), user: old.user, client: old.client, account: old.account }
    const { user, client, account, id } = old
    assert.equal(await oauthGrants.insert(old), true)
    assert.equal(await other.oauthGrants.find(old), null)
    assert.equal(await other.oauthGrants.insert(next), true)
    assert.deepEqual((await oauthGrants.find(old))?.record, next)
    assert.equal((await oauthGrants.ofUser(user, all)).total, 2)
    assert.equal((await oauthGrants.ofClient(client, all)).total, 2)
    const kept = (await other.oauthGrants.get(account, id))!
    assert.deepEqual(kept.record, old)
    const trimmed = { ...old, scopes: ['offline_access'] }
    assert.equal(await other.oauthGrants.replace(trimmed, kept.version), true)
    assert.deepEqual((await oauthGrants.get(account, id))?.record, trimmed)
    assert.deepEqual((await oauthGrants.find(old))?.record, next)
    assert.equal(await oauthGrants.remove(account, id), true)
    assert.deepEqual((await other.oauthGrants.find(old))?.record, next)
    assert.deepEqual((await oauthGrants.ofUser(user, all)).items, [next])
  })

  test(`${name}: of 20 grants at once of one user, client, account and resource, one is kept`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const { user, client, account } = oauthGrant()
    const tries = Array.from({ length: 20 }, () => oauthGrant({ user, client, account }))
    const kept = await Promise.all(tries.map((one, i) => stores[i % 2]!.oauthGrants.insert(one)))
    assert.equal(kept.filter(Boolean).length, 1)
    const only = { items: [tries[kept.indexOf(true)]], total: 1 }
    const { oauthGrants } = stores[1]!
    assert.deepEqual(await oauthGrants.list(account, all), only)
    assert.deepEqual(await oauthGrants.ofUser(user, all), only)
    assert.deepEqual(await oauthGrants.ofClient(client, all), only)
  })

  test(`${name}: grants of a user and for a client are listed by creation and then id, a page at a time`, async t => {
    const { oauthGrants } = await (await place(t))()
    const [user, client] = [hex(16), hex(16)]
    const ordered = Array.from({ length: 450 }, (_, i) =>
      oauthGrant({ id: String(i).padStart(32, '0'), user, client, createdAt: 1_000 + Math.floor(i / 7) }),
    )
    const strangers = [oauthGrant({ user }), oauthGrant({ client }), oauthGrant()]
    await Promise.all([...ordered.toReversed(), ...strangers].map(one => oauthGrants.insert(one)))
    const [his, its] = [
      [...ordered, strangers[0]!],
      [...ordered, strangers[1]!],
    ]
    assert.deepEqual(await oauthGrants.ofUser(user, all), { items: his, total: 451 })
    assert.deepEqual(await oauthGrants.ofClient(client, all), { items: its, total: 451 })
    const part = await oauthGrants.ofClient(client, { offset: 195, limit: 210 })
    assert.deepEqual(part, { items: its.slice(195, 405), total: 451 })
    const { createdAt: at, id } = his[200]!
    const behind = await oauthGrants.ofUser(user, { offset: 1, limit: 3, after: { at, id } })
    assert.deepEqual(behind, { items: his.slice(202, 205), total: 451 })
    const gone = await oauthGrants.ofUser(user, { ...all, after: { at, id: `${id}x` } })
    assert.deepEqual(gone.items, his.slice(201))
    assert.deepEqual(await oauthGrants.ofUser(user, { offset: 0, limit: 0 }), { items: [], total: 451 })
    assert.deepEqual(await oauthGrants.ofUser(user, { offset: 999, limit: 9 }), { items: [], total: 451 })
    assert.deepEqual(await oauthGrants.ofUser(client, all), { items: [], total: 0 })
  })

  test(`${name}: whatever is done to grants, they are found and listed as they are kept`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const resources = [[], ['https://a.example/'], ['https://a.example/', 'https://b.example/']]
    const step = fc.record({
      action: fc.constantFrom('insert', 'replace', 'remove'),
      who: fc.nat(1),
      what: fc.nat(1),
      where: fc.nat(1),
      which: fc.nat(2),
      createdAt: fc.nat(3),
      store: fc.nat(1),
    } as const)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
        const [users, clients, accounts] = [0, 1, 2].map(() => [hex(16), hex(16)]) as [
          string[],
          string[],
          string[],
        ]
        const model = new Map<string, OAuthGrant>()
        for (const { action, who, what, where, which, createdAt, store } of steps) {
          const { oauthGrants } = stores[store]!
          const [user, client, account] = [users[who]!, clients[what]!, accounts[where]!]
          const resource = resources[which]!
          const key = `${who} ${what} ${where} ${which}`
          const kept = model.get(key)
          const read = await oauthGrants.find({ user, client, account, resource })
          assert.deepEqual(read?.record, kept)
          if (action === 'insert') {
            const next = oauthGrant({ user, client, account, resource, createdAt })
            assert.equal(await oauthGrants.insert(next), !kept)
            if (!kept) model.set(key, next)
          } else if (action === 'remove') {
            assert.equal(await oauthGrants.remove(account, kept?.id ?? hex(16)), kept !== undefined)
            model.delete(key)
          } else if (kept) {
            const next = { ...kept, scopes: [hex(4)] }
            assert.equal(await oauthGrants.replace(next, read!.version), true)
            model.set(key, next)
          }
          const ordered = [...model.values()].sort(
            (a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1),
          )
          const his = ordered.filter(one => one.user === user)
          const its = ordered.filter(one => one.client === client)
          assert.deepEqual(await oauthGrants.ofUser(user, all), { items: his, total: his.length })
          assert.deepEqual(await oauthGrants.ofClient(client, all), { items: its, total: its.length })
        }
      }),
      { numRuns: 25 },
    )
  })

  test(`${name}: the last 200 events of a client are kept, the one that came last first`, async t => {
    const open = await place(t)
    const [{ authorizationEvents }, other] = await Promise.all([open(), open()])
    const { client, clientAccount } = authorizationEvent()
    const base = Date.now()
    const events = Array.from({ length: 230 }, (_, i) =>
      authorizationEvent({ client, clientAccount, at: base + i }),
    )
    const stranger = authorizationEvent({ clientAccount })
    await authorizationEvents.append(stranger)
    for (const event of events.slice(0, 40)) await authorizationEvents.append(event)
    assert.deepEqual(
      await other.authorizationEvents.list(clientAccount, client),
      events.slice(0, 40).toReversed(),
    )
    for (const event of events.slice(40)) await authorizationEvents.append(event)
    const kept = await other.authorizationEvents.list(clientAccount, client)
    assert.deepEqual(kept, events.slice(30).toReversed())
    assert.deepEqual(await other.authorizationEvents.list(clientAccount, stranger.client), [stranger])
    assert.deepEqual(await other.authorizationEvents.list(hex(16), client), [])
    await other.authorizationEvents.removeOf(client)
    assert.deepEqual(await authorizationEvents.list(clientAccount, client), [])
    assert.deepEqual(await authorizationEvents.list(clientAccount, stranger.client), [stranger])
    await authorizationEvents.append(events[0]!)
    assert.deepEqual(await authorizationEvents.list(clientAccount, client), [events[0]])
  })

  test(`${name}: events that anyone can cause push out none but their own kind`, async t => {
    const { authorizationEvents } = await (await place(t))()
    const { client, clientAccount } = authorizationEvent()
    const base = Date.now()
    const make = (i: number, isUnproven: boolean) =>
      authorizationEvent({ client, clientAccount, at: base + i, isUnproven })
    const known = [make(0, false), make(300, false)] as const
    const garbage = Array.from({ length: 130 }, (_, i) => make(i + 1, true))
    for (const event of [known[0], ...garbage, known[1]]) await authorizationEvents.append(event)
    const kept = await authorizationEvents.list(clientAccount, client)
    assert.deepEqual(kept, [known[1], ...garbage.slice(30).toReversed(), known[0]])
    await authorizationEvents.removeOf(client)
    assert.deepEqual(await authorizationEvents.list(clientAccount, client), [])
  })

  test(`${name}: of one user and result 20 events are kept, whatever others did before or between`, async t => {
    const open = await place(t)
    const [{ authorizationEvents }, other] = await Promise.all([open(), open()])
    const { client, clientAccount } = authorizationEvent()
    const [loud, quiet] = [hex(16), hex(16)]
    const base = Date.now()
    const make = (i: number, more: Partial<AuthorizationEvent>) =>
      authorizationEvent({ client, clientAccount, at: base + i, ...more })
    const quietly = make(0, { user: quiet, reason: `"user":"${loud}","result":"failure"` })
    const nobody = make(1, { user: null })
    await authorizationEvents.append(quietly)
    await authorizationEvents.append(nobody)
    const failures: AuthorizationEvent[] = []
    const successes: AuthorizationEvent[] = []
    for (let i = 0; i < 45; i++) {
      failures.push(make(10 + 2 * i, { user: loud, reason: `${i}` }))
      await (i % 2 === 0 ? authorizationEvents : other.authorizationEvents).append(failures.at(-1)!)
      if (i % 2 === 1) continue
      successes.push(make(11 + 2 * i, { user: loud, result: 'success', error: null, reason: null }))
      await other.authorizationEvents.append(successes.at(-1)!)
    }
    const kept = [...failures.slice(-20), ...successes.slice(-20)].toSorted((one, two) => two.at - one.at)
    assert.deepEqual(await authorizationEvents.list(clientAccount, client), [...kept, nobody, quietly])
    for (let i = 0; i < 30; i++) await authorizationEvents.append(make(200 + i, { user: null }))
    assert.equal((await other.authorizationEvents.list(clientAccount, client)).length, 72)
  })

  test(`${name}: of events that come at once none is lost, and one that is too large is refused`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const { client, clientAccount } = authorizationEvent()
    const events = Array.from({ length: 60 }, () => authorizationEvent({ client, clientAccount }))
    await Promise.all(events.map((event, i) => stores[i % 2]!.authorizationEvents.append(event)))
    const kept = await stores[0]!.authorizationEvents.list(clientAccount, client)
    assert.deepEqual(kept.map(({ id }) => id).toSorted(), events.map(({ id }) => id).toSorted())
    const large = authorizationEvent({ client, clientAccount, reason: 'x'.repeat(8 * 1024) })
    await assert.rejects(stores[0]!.authorizationEvents.append(large), TypeError)
    assert.equal((await stores[0]!.authorizationEvents.list(clientAccount, client)).length, 60)
  })

  test(`${name}: an event is kept for 30 days`, async t => {
    const clock = new ContractClock()
    const { authorizationEvents } = await (await place(t))(clock)
    const { client, clientAccount } = authorizationEvent()
    const [first, next] = [0, 20 * day].map(after =>
      authorizationEvent({ client, clientAccount, at: clock.now() + after }),
    ) as [ReturnType<typeof authorizationEvent>, ReturnType<typeof authorizationEvent>]
    await authorizationEvents.append(first)
    clock.advance(20 * day)
    await authorizationEvents.append(next)
    clock.advance(9.9 * day)
    assert.deepEqual(await authorizationEvents.list(clientAccount, client), [next, first])
    clock.advance(0.2 * day)
    assert.deepEqual(await authorizationEvents.list(clientAccount, client), [next])
    clock.advance(20 * day)
    assert.deepEqual(await authorizationEvents.list(clientAccount, client), [])
  })

  test(`${name}: a signing key is kept as it was given`, async t => {
    const { signingKeys } = await (await place(t))()
    const [first, next] = [signingKey(), signingKey({ createdAt: signingKey().createdAt + 1 })]
    for (const one of [next, first]) assert.equal(await signingKeys.insert(one), true)
    assert.equal(await signingKeys.insert({ ...first, sealed: 'another' }), false)
    assert.deepEqual(await signingKeys.list('oauth', all), { items: [first, next], total: 2 })
  })
}
