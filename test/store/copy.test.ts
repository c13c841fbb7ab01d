import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { copyStore, inWords, moveStore } from '../../src/store/copy.ts'
import { isMoved } from '../../src/store/contract/mark.ts'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import { openStore } from '../../src/store/open.ts'
import { documentIdOf } from '../../src/oauth/clients/document-url.ts'
import { everybody } from '../../src/store/records/people.ts'
import { acmeOwner } from '../../src/store/records/acme.ts'
import { keyOwners } from '../../src/store/records/signing-key.ts'
import { noteOwner } from '../../src/store/records/store-note.ts'
import { ticketOwner } from '../../src/store/records/ticket-key.ts'
import { tokenKeyOwner } from '../../src/store/records/token-key.ts'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import type { BudgetLine } from '../../src/store/records/budget.ts'
import type { Store } from '../../src/store/contract/store.ts'
import {
  accessRuleList,
  account,
  auditEntry,
  auditQuery,
  authorizationEvent,
  credential,
  errorPage,
  errorRuleList,
  gateway,
  customProvider,
  modelRoute,
  budgetAlertSet,
  policySet,
  identity,
  storedResponse,
  logEntries,
  member,
  oauthClient,
  oauthGrant,
  signingKey,
  acmeAccount,
  hostCertificate,
  ticketKey,
  tokenKey,
  token,
  user,
  verification,
} from './contract-specimens.ts'
import { until } from '../help/until.ts'
import { temporaryFile } from './sqlite/temporary-file.ts'

const spendings: readonly BudgetLine[] = [
  { kind: 'fixed', until: 4_000_000_000_000 } as const,
  { kind: 'sliding', period: 3_600_000 } as const,
  { kind: 'none' } as const,
].map((window, i) => ({
  ...{ bucket: `b${i}`, window, limit: 9_000_000_000_000_000, share: 'p.0', total: 7_000_000_000_000_001 },
  ...{ confirmed: 0, keep: 20, ifLost: 10, need: 0, want: 0 },
}))

const claimAsk = (owner: string, i: number) => ({
  ...{ account: owner, gateway: 'default', key: `k${i}`, fingerprint: 'f', holder: `h.${i}`, lease: 60_000 },
  ...{
    expiresAt: Date.now() + 86_400_000,
    note: 'ray -',
    owner: `o${i % 3}`,
    maxClaims: 1_000,
    maxOfOwner: 40,
  },
})

async function empty(t: TestContext): Promise<Store> {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  return store
}

/** Fills a store with two accounts of 120 tokens, OAuth clients and audit entries and two gateways each, one with 700 log entries; and rules and pages of nine zones. */
async function filled(t: TestContext): Promise<Store> {
  const store = await empty(t)
  for (const owner of [account({ createdAt: 1 }), account({ createdAt: 2 })]) {
    await store.accounts.insert(owner)
    for (let i = 0; i < 120; i++) {
      const kept = token({ account: owner.id, issuedOn: i })
      await store.tokens.insert(kept)
      if (i % 2 === 1) await store.tokens.noteUses([{ account: owner.id, id: kept.id, at: 1_000 + i }])
      const audit = auditEntry({ account: owner.id, at: 120 - i })
      await store.oauthClients.insert(oauthClient({ account: owner.id, createdAt: i % 50 }), { audit })
    }
    await fillPeople(store, owner.id)
    await store.customProviders.insert(customProvider({ account: owner.id }))
    await store.budgets.step({ account: owner.id, sequence: 1, lease: 60_000, lines: spendings })
    for (let i = 0; i < 120; i++) await store.claims.claim(claimAsk(owner.id, i))
    for (const id of ['default', 'quiet']) {
      await store.gateways.insert(gateway({ account: owner.id, id }))
      await store.modelRoutes.insert(modelRoute({ account: `${owner.id}/${id}` }))
      await store.policySets.insert(policySet({ account: `${owner.id}/${id}` }))
      await store.budgetAlertSets.insert(budgetAlertSet({ account: `${owner.id}/${id}` }))
    }
    const entries = logEntries(gateway({ account: owner.id }), 700, i => (i % 2 ? { request: null } : {}))
    await store.logs.append(owner.id, 'default', batchOf(entries), {
      maxEntries: 1000,
      strategy: 'DELETE_OLDEST',
    })
  }
  const known = oauthClient({ account: everybody, id: documentIdOf('https://app.example/c') })
  await store.oauthClients.insert(known)
  const party = { client: known.id, clientAccount: everybody }
  await store.oauthGrants.insert(oauthGrant({ account: everybody, user: 'a'.repeat(32), ...party }))
  for (let i = 0; i < 9; i++) {
    await store.errorRules.insert(errorRuleList({ id: `${i}.example` }))
    await store.accessRules.insert(accessRuleList({ id: `${i}.example`, createdAt: 9 - i }))
    await store.errorPages.insert(errorPage({ zone: `${i}.example`, html: 'x'.repeat(i) }))
  }
  return store
}

/** Has three people join an account, and each let an app of it act for them. */
async function fillPeople(store: Store, account: string): Promise<void> {
  const app = oauthClient({ account, createdAt: 60 })
  const of = { client: app.id, clientAccount: account }
  await store.oauthClients.insert(app)
  for (let i = 0; i < 3; i++) {
    const person = user({ createdAt: i, identity: i ? identity() : null })
    const grant = oauthGrant({ account, user: person.id, createdAt: i, ...of })
    await store.users.insert(person)
    await store.members.insert(member({ account, user: person.id, isSuper: i === 0, createdAt: i }))
    await store.oauthGrants.insert(grant)
    const owners = { user: person.id, client: app.id, grant: grant.id }
    const consumed = credential('refresh_token', { ...owners, consumedAt: 5 })
    await store.credentials.putAll([credential('access_token', owners), consumed])
    await store.credentials.putAll(Array.from({ length: 130 }, () => credential('session', owners)))
    await store.credentials.put(credential('site_session', owners))
    await store.credentials.putAll([
      credential('authorization_code', owners),
      credential('site_code', owners),
    ])
    for (const at of [1, 2])
      await store.authorizationEvents.append(authorizationEvent({ ...of, at: Date.now() + at }))
  }
  await store.signingKeys.insert(signingKey({ createdAt: 9 }))
  await store.signingKeys.insert(signingKey({ account: 'identity', id: 'identity-1' }))
  await store.acmeAccounts.insert(acmeAccount())
  for (const id of ['b.example', 'a.example']) await store.certificates.insert(hostCertificate({ id }))
  await store.tokenKeys.insert(tokenKey())
  await store.ticketKeys.insert(ticketKey({ id: 'a'.repeat(32) }))
}

/** Gives what a store holds of people; the credentials by digest, since what expires at once has no order. */
async function peopleOf(store: Store) {
  const page = { offset: 0, limit: 1000 }
  const { items: users } = await store.users.list(everybody, page)
  const credentials = await Promise.all(
    users.flatMap(({ id }) =>
      (['session', 'site_session', 'access_token', 'refresh_token'] as const).map(kind =>
        store.credentials.list({ user: id }, kind, 1000),
      ),
    ),
  )
  const keys = await Promise.all(keyOwners.map(owner => store.signingKeys.list(owner, page)))
  assert.deepEqual(
    keys.map(({ total }) => total),
    [2, 1],
  )
  const { items: tokenKeys } = await store.tokenKeys.list(tokenKeyOwner, page)
  const { items: ticketKeys } = await store.ticketKeys.list(ticketOwner, page)
  assert.deepEqual([tokenKeys.length, ticketKeys.length], [1, 1])
  return {
    users,
    keys,
    tokenKeys,
    ticketKeys,
    credentials: credentials.flat().sort((a, b) => (a.digest < b.digest ? -1 : 1)),
  }
}

async function usesOf({ tokens }: Store, account: string) {
  const { items } = await tokens.list(account, { offset: 0, limit: 1000 })
  const ids = items.map(({ id }) => id)
  return [...(await tokens.lastUses(account, ids))]
}

/** Gives all that a store holds. */
async function everything(store: Store) {
  const { accounts, gateways, tokens, oauthClients, logs, audit } = store
  const owners = await accounts.list()
  const held = owners.map(async ({ id }) => ({
    gateways: await gateways.list(id, { offset: 0, limit: 1000 }),
    routes: await store.modelRoutes.list(`${id}/default`, { offset: 0, limit: 1000 }),
    policies: await store.policySets.list(`${id}/default`, { offset: 0, limit: 1000 }),
    alerts: await store.budgetAlertSets.list(`${id}/default`, { offset: 0, limit: 1000 }),
    custom: await store.customProviders.list(id, { offset: 0, limit: 1000 }),
    tokens: await tokens.list(id, { offset: 0, limit: 1000 }),
    uses: await usesOf(store, id),
    oauthClients: await oauthClients.list(id, { offset: 0, limit: 1000 }),
    audit: await audit.list(id, auditQuery({ limit: 1000 })),
    entries: (await Array.fromAsync(logs.entries(id, 'default'))).flat(),
    quiet: await logs.count(id, 'quiet'),
    members: await store.members.list(id, { offset: 0, limit: 1000 }),
    grants: await store.oauthGrants.list(id, { offset: 0, limit: 1000 }),
    events: await eventsOf(store, id),
    budgets: (await Array.fromAsync(store.budgets.entries(id))).flat(),
    claims: (await Array.fromAsync(store.claims.entries(id))).flat(),
    spent: await store.budgets.read(id, spendings),
  }))
  const page = { offset: 0, limit: 1000 }
  const zones = await Promise.all(
    [store.errorRules, store.accessRules, store.errorPages].map(records => records.list(zoneOwner, page)),
  )
  const ofNobody = [await oauthClients.list(everybody, page), await store.oauthGrants.list(everybody, page)]
  return { owners, held: await Promise.all(held), zones, ofNobody, people: await peopleOf(store) }
}

async function eventsOf({ oauthClients, authorizationEvents }: Store, account: string) {
  const { items } = await oauthClients.list(account, { offset: 0, limit: 1000 })
  return Promise.all(items.map(({ id }) => authorizationEvents.list(account, id)))
}

test('everything of a store is copied to an empty one', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  assert.deepEqual(await copyStore(from, to), {
    ...{ accounts: 2, gateways: 4, modelRoutes: 4, policySets: 4, budgetAlertSets: 4, customProviders: 2 },
    ...{ tokens: 240, oauthClients: 243 },
    ...{ budgets: 6, claims: 240, logEntries: 1400, auditEntries: 240, ruleLists: 18, errorPages: 9 },
    ...{
      users: 6,
      members: 6,
      oauthGrants: 7,
      credentials: 6 * 133,
      authorizationEvents: 12,
      signingKeys: 3,
      acmeAccounts: 2,
      certificates: 2,
    },
  })
  const copied = await everything(to)
  assert.deepEqual(copied, await everything(from))
  assert.equal(copied.people.credentials.length, 6 * 133)
  assert.deepEqual(
    await to.credentials.list({ user: copied.people.users[0]!.id }, 'authorization_code', 9),
    [],
  )
})

test('a domain that was being verified goes on being verified, and responses stay behind', async t => {
  const [from, to] = [await empty(t), await empty(t)]
  const owner = account()
  await from.accounts.insert(owner)
  const nextCheckAt = Date.now() - 1000
  const waiting = oauthClient({ account: owner.id, verification: verification({ nextCheckAt }) })
  const over = oauthClient({ account: owner.id })
  const response = storedResponse({ account: owner.id })
  await from.oauthClients.insert(waiting, { response })
  await from.oauthClients.insert(over)
  assert.equal((await from.oauthClients.claimDue(10, 60_000)).length, 1)
  await copyStore(from, to)
  const due = await to.oauthClients.claimDue(10, 60_000)
  assert.deepEqual(
    due.map(({ record }) => record),
    [waiting],
  )
  assert.equal(await to.responses.get(owner.id, response.key), null)
})

test('a store without an account is not copied from', async t => {
  await assert.rejects(copyStore(await empty(t), await empty(t)), {
    message: 'nothing was copied: sqlite::memory: has no account',
  })
})

test('a store that holds an account is not copied to', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  await to.accounts.insert(account())
  await assert.rejects(copyStore(from, to), {
    message: 'nothing was copied: sqlite::memory: already has an account: the target must be an empty store',
  })
  assert.equal((await to.accounts.list()).length, 1)
})

test('a copy that fails says what was copied, and why not all', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const [, second] = await from.accounts.list()
  await to.gateways.insert(gateway({ account: second!.id, id: 'quiet' }))
  await assert.rejects(copyStore(from, to), {
    message:
      'the copy to sqlite::memory: is incomplete: the gateway quiet already exists. Copied so far: 2 accounts, 3 gateways, 3 dynamic routes, 3 sets of policies, 3 sets of budget alerts, 1 custom provider, 240 tokens, 242 OAuth clients, 3 budgets, 120 claims of AI calls, 1400 log entries, 120 audit entries, 6 members, 6 OAuth grants and 12 authorization events. Run the same command again',
  })
})

test('a copy that fails names the store that failed, be it read or written', async t => {
  const away = () => openStore('redis://user:SECRET@127.0.0.1:1', { commandTimeout: 500 })
  const [full, none, down] = [await filled(t), await empty(t), await away()]
  t.after(() => down.close())
  const message = 'nothing was copied: redis://127.0.0.1:1: store unreachable (ECONNREFUSED)'
  await assert.rejects(copyStore(down, none), { message })
  await assert.rejects(copyStore(full, down), { message })
})

test('a source that fails on the way is named, and what was copied before', async t => {
  const people = ', 3 members, 3 OAuth grants and 6 authorization events'
  for (const [part, copied] of [
    ['tokens', '1 account'],
    ['clients', '1 account and 120 tokens'],
    [
      'logs',
      `1 account, 1 gateway, 1 dynamic route, 1 set of policies, 1 set of budget alerts, 120 tokens, 121 OAuth clients${people}`,
    ],
    [
      'audit',
      `1 account, 2 gateways, 2 dynamic routes, 2 sets of policies, 2 sets of budget alerts, 1 custom provider, 120 tokens, 121 OAuth clients, 3 budgets, 120 claims of AI calls, 700 log entries${people}`,
    ],
  ] as const) {
    const [from, to] = [
      await filled(t),
      await openStore(`sqlite:${temporaryFile(t)}`, { commandTimeout: 500 }),
    ]
    t.after(() => to.close())
    const broken = async () => {
      throw new Error('it is broken')
    }
    const brokenOnTheWay = async function* () {
      yield await broken()
    }
    if (part === 'tokens') from.tokens.walk = brokenOnTheWay
    if (part === 'clients') from.oauthClients.walk = brokenOnTheWay
    if (part === 'audit') from.audit.list = broken
    if (part === 'logs') from.logs.entries = brokenOnTheWay
    await assert.rejects(copyStore(from, to), {
      message: `the copy to ${to.location} is incomplete: sqlite::memory:: it is broken. Copied so far: ${copied}. Run the same command again`,
    })
  }
})

test('certificates are copied with their account, and without orders that are under way', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  await copyStore(from, to)
  const page = { offset: 0, limit: 10 }
  assert.deepEqual(await to.acmeAccounts.list(acmeOwner, page), await from.acmeAccounts.list(acmeOwner, page))
  const { items } = await from.certificates.list(acmeOwner, page)
  assert.deepEqual(
    (await to.certificates.list(acmeOwner, page)).items,
    items.map(certificate => ({ ...certificate, order: null, lease: null })),
  )
})

test('rules of zones that are there already are not written over', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  await to.errorRules.insert(errorRuleList({ id: '3.example', rules: [] }))
  await assert.rejects(
    copyStore(from, to),
    /: the list of error rules 3.example already exists\. .* 3 rule lists/,
  )
  assert.deepEqual((await to.errorRules.get(zoneOwner, '3.example'))?.record.rules, [])
})

test('what was copied is reported in words, without what there was none of', () => {
  const none = {
    ...{
      accounts: 0,
      gateways: 0,
      tokens: 0,
      oauthClients: 0,
      budgets: 0,
      claims: 0,
      logEntries: 0,
      auditEntries: 0,
      ruleLists: 0,
    },
    ...{
      modelRoutes: 0,
      policySets: 0,
      budgetAlertSets: 0,
      customProviders: 0,
      errorPages: 0,
      users: 0,
      members: 0,
      oauthGrants: 0,
      credentials: 0,
      authorizationEvents: 0,
      signingKeys: 0,
      acmeAccounts: 0,
      certificates: 0,
    },
  }
  assert.equal(inWords(none), 'nothing')
  assert.equal(inWords({ ...none, accounts: 1 }), '1 account')
  assert.equal(inWords({ ...none, tokens: 2, errorPages: 1 }), '2 tokens and 1 error page')
  assert.equal(
    inWords({
      ...none,
      accounts: 1,
      gateways: 2,
      logEntries: 1,
      auditEntries: 2,
      ruleLists: 1,
      signingKeys: 1,
    }),
    '1 account, 2 gateways, 1 log entry, 2 audit entries, 1 rule list and 1 signing key',
  )
  assert.equal(
    inWords({ ...none, users: 2, members: 1, oauthGrants: 2, credentials: 3, authorizationEvents: 1 }),
    '2 users, 1 member, 2 OAuth grants, 3 sessions and OAuth tokens and 1 authorization event',
  )
})

test('a copy whose gateway is deleted meanwhile, and its log with it, is none', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const append = to.logs.append.bind(to.logs)
  t.mock.method(to.logs, 'append', async (...args: Parameters<typeof append>) => {
    await to.gateways.remove(args[0], args[1])
    return append(...args)
  })
  await assert.rejects(copyStore(from, to), /incomplete: the gateway default was deleted during the copy\. /)
})

test('what is spent while a store is moved counts in the other one, or is refused', async t => {
  const file = `sqlite:${temporaryFile(t)}`
  const open = () => openStore(file, { commandTimeout: 5_000 })
  const [from, user, to] = [await open(), await open(), await empty(t)]
  t.after(async () => {
    await from.close()
    await user.close()
  })
  const { id } = account()
  await from.accounts.insert(account({ id }))
  user.trust.expect(await user.adopt())
  const [line] = spendings as [BudgetLine]
  let [isOver, confirmed, refused, sequence] = [false, 0, 0, 0]
  const spend = async () => {
    const lines = [{ ...line, total: ++sequence }]
    await user.budgets.step({ account: id, sequence, lease: 60_000, lines })
    confirmed = sequence
  }
  const spender = (async () => {
    while (!isOver) await spend().catch(() => void refused++)
  })()
  await until(() => confirmed > 20)
  await moveStore(from, to)
  await until(() => refused > 0)
  isOver = true
  await spender
  const sum = { bucket: line.bucket, spent: confirmed, leased: line.keep }
  assert.deepEqual(await to.budgets.read(id, [line]), [sum])
  const last = { ...line, total: confirmed + 1, keep: 0, ifLost: 0 }
  await to.budgets.step({ account: id, sequence: sequence + 1, lease: 60_000, lines: [last] })
  assert.deepEqual(await to.budgets.read(id, [line]), [{ ...sum, spent: confirmed + 1, leased: 0 }])
})

test('a store that is moved ends with all that was confirmed, and the other goes on as it', async t => {
  const file = `sqlite:${temporaryFile(t)}`
  const open = () => openStore(file, { commandTimeout: 5_000 })
  const [from, user, to] = [await open(), await open(), await empty(t)]
  t.after(async () => {
    await from.close()
    await user.close()
  })
  const owner = account()
  await from.accounts.insert(owner)
  const seen = await user.adopt()
  user.trust.expect(seen)
  let [isOver, confirmed, refused] = [false, 0, 0]
  const writers = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isOver)
        await user.tokens.insert(token({ account: owner.id })).then(
          () => confirmed++,
          cause => {
            assert.equal(cause.name, 'StoreDegraded')
            refused++
          },
        )
    }),
  )
  await until(() => confirmed > 100)
  await moveStore(from, to)
  await until(() => refused > 10)
  isOver = true
  await writers
  assert.equal((await to.tokens.list(owner.id, { offset: 0, limit: 1 })).total, confirmed)
  const mark = (await to.mark())!
  assert.equal(mark.identity, seen.identity)
  assert.ok(mark.generation >= confirmed)
  // Whoever copies what was moved does not pass on that it was.
  const backup = await empty(t)
  await copyStore(from, backup)
  assert.equal((await backup.mark())!.identity, seen.identity)
})

test('a move that fails leaves the store as it was; one that was interrupted before stays so', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const [, second] = await from.accounts.list()
  await to.gateways.insert(gateway({ account: second!.id, id: 'quiet' }))
  const before = await from.adopt()
  await assert.rejects(moveStore(from, to), /is incomplete: the gateway quiet already exists/)
  assert.deepEqual(await from.adopt(), before)
  await to.accounts.insert(account())
  await assert.rejects(moveStore(from, await filled(t)), /nothing was copied/)
  assert.deepEqual(await from.adopt(), before)
  const fresh = await empty(t)
  await from.continueAs({ ...before, identity: `moved-${before.identity}` })
  const broken = t.mock.method(from.audit, 'list', async () => {
    throw new Error('it is broken')
  })
  await assert.rejects(moveStore(from, fresh), /is incomplete: .*it is broken/)
  broken.mock.restore()
  assert.equal(isMoved(await from.adopt()), true)
  await moveStore(from, fresh)
  assert.equal((await fresh.mark())!.identity, before.identity)
  assert.deepEqual((await everything(fresh)).owners, (await everything(from)).owners)
})

test('of two simultaneous moves the first fails, and the other has all confirmed writes', async t => {
  const [from, first, second] = [await filled(t), await empty(t), await empty(t)]
  const [walk, isHeld, goOn] = [
    from.users.walk.bind(from.users),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ]
  t.mock.method(from.users, 'walk', async function* (owner: string) {
    isHeld.resolve()
    await goOn.promise
    yield* walk(owner)
  })
  const overtaken = assert.rejects(
    moveStore(from, first),
    /was moved by another command meanwhile, or accepted/,
  )
  await isHeld.promise
  t.mock.restoreAll()
  const { identity } = await from.adopt()
  await moveStore(from, second)
  goOn.resolve()
  await overtaken
  assert.equal(isMoved(await from.adopt()), true)
  assert.notEqual((await from.adopt()).identity, identity)
  assert.deepEqual((await everything(second)).owners, (await everything(from)).owners)
})

test('a store that was moved is not moved to a second one, unless it was accepted in between', async t => {
  const [from, first, second] = [await filled(t), await empty(t), await empty(t)]
  const before = await from.adopt()
  await moveStore(from, first)
  // In memory, all stores have the same location.
  Object.defineProperty(second, 'location', { value: 'sqlite:second.db' })
  const moved = await from.adopt()
  await assert.rejects(moveStore(from, second), /^Error: nothing was moved: .* was moved to .* before/)
  assert.deepEqual(await from.adopt(), moved)
  assert.equal((await second.accounts.list()).length, 0)
  await from.continueAs({ ...moved, identity: before.identity })
  await moveStore(from, second)
  assert.equal((await second.mark())!.identity, before.identity)
})

test('a move during which the store confirms changes again is none', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const before = await from.adopt()
  const walk = from.users.walk.bind(from.users)
  t.mock.method(from.users, 'walk', async function* (owner: string) {
    // As gatehouse store accept does, or another move that fails.
    await from.continueAs(before)
    yield* walk(owner)
  })
  await assert.rejects(
    moveStore(from, to),
    /is incomplete: .* was moved by another command meanwhile, or accepted/,
  )
  assert.notEqual((await to.mark())!.identity, before.identity)
  assert.deepEqual(await from.adopt(), before)
})

test('a move whose beginning is not confirmed leaves the store as it was', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const before = await from.adopt()
  const continueAs = from.continueAs.bind(from)
  const cut = t.mock.method(from, 'continueAs', async (mark: typeof before) => {
    cut.mock.restore()
    await continueAs(mark)
    throw new Error('the connection was cut')
  })
  await assert.rejects(moveStore(from, to), /the connection was cut/)
  assert.deepEqual(await from.adopt(), before)
})

test('a move that is interrupted has the store confirm changes again, and its target is none', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const before = await from.adopt()
  const interruption = new AbortController()
  const append = to.audit.append.bind(to.audit)
  let wasMoved = false
  t.mock.method(to.audit, 'append', async (...args: Parameters<typeof append>) => {
    wasMoved ||= isMoved(await from.adopt())
    interruption.abort(new Error('interrupted'))
    return append(...args)
  })
  await assert.rejects(moveStore(from, to, { signal: interruption.signal }), { message: 'interrupted' })
  assert.equal(wasMoved, true)
  assert.deepEqual(await from.adopt(), before)
  // What is under way does not complete the target behind the back of the store that confirms changes again.
  await until(async () => (await to.certificates.list(acmeOwner, { offset: 0, limit: 1 })).total > 0)
  assert.notEqual(await to.notes.get(noteOwner, 'copy'), null)
  assert.notEqual((await to.mark())!.identity, before.identity)
  t.mock.restoreAll()
  await moveStore(from, to, { signal: new AbortController().signal })
  assert.equal((await to.mark())!.identity, before.identity)
  const late = new AbortController()
  late.abort(new Error('interrupted'))
  const unmoved = await filled(t)
  await assert.rejects(moveStore(unmoved, await empty(t), late), { message: 'interrupted' })
  assert.equal(isMoved(await unmoved.adopt()), false)
})

test('a move whose place is being noted can no longer be interrupted', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const before = await from.adopt()
  const interruption = new AbortController()
  const insert = from.notes.insert.bind(from.notes)
  t.mock.method(from.notes, 'insert', (...args: Parameters<typeof insert>) => {
    interruption.abort(new Error('interrupted'))
    return insert(...args)
  })
  await moveStore(from, to, { signal: interruption.signal })
  assert.equal(interruption.signal.aborted, true)
  assert.deepEqual([(await to.mark())!.identity, isMoved(await from.adopt())], [before.identity, true])
})

test('a snapshot has what a file held when it was opened, and writers go on', async t => {
  const file = `sqlite:${temporaryFile(t)}`
  const writer = await openStore(file, { commandTimeout: 5_000 })
  t.after(() => writer.close())
  const owner = account()
  await writer.accounts.insert(owner)
  const [early, late] = [token({ account: owner.id }), token({ account: owner.id })]
  const [session, later] = [credential('session', { user: 'a' }), credential('session', { user: 'a' })]
  await writer.tokens.insert(early)
  await writer.credentials.put(session)
  const snapshot = await openStore(file, { commandTimeout: 5_000, isSnapshot: true })
  t.after(() => snapshot.close())
  await writer.tokens.insert(late)
  await writer.tokens.remove(owner.id, early.id)
  await writer.credentials.put(later)
  await writer.credentials.remove('session', session.digest)
  assert.deepEqual(await Array.fromAsync(snapshot.tokens.walk(owner.id)), [[early]])
  assert.deepEqual(await snapshot.credentials.list({ user: 'a' }, 'session', 9), [session])
  assert.deepEqual(await Array.fromAsync(writer.tokens.walk(owner.id)), [[late]])
})
