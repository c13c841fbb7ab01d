// What a page shows a person on the way to a code, and what their decision leads to, without the library.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { ClientDirectory } from '../../../src/oauth/clients/client-directory.ts'
import { documentIdOf } from '../../../src/oauth/clients/document-url.ts'
import type { AuthorizationOutcome } from '../../../src/oauth/grants/authorization-log.ts'
import type { Decision } from '../../../src/oauth/grants/consent-request.ts'
import { RouteResources } from '../../../src/oauth/grants/route-resources.ts'
import { Interactions } from '../../../src/oauth-server/endpoints/interactions.ts'
import type { Person } from '../../../src/oauth-server/engine/request.ts'
import { openStore } from '../../../src/store/open.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { digestOf } from '../../../src/tokens/token.ts'
import { zoneTo } from '../../help/edge.ts'
import { ManualClock } from '../../help/clock.ts'
import { clientWith } from '../../oauth/clients/client-with.ts'
import { roleIds, superAdministrator } from '../../oauth/grants/parts-with.ts'
import { account, credential, member, user } from '../../store/contract-specimens.ts'

const uid = 'u'.repeat(21)
const callback = 'https://app.example/cb'
const issuer = 'https://id.example'
const ai = 'https://ai.example'
const orders = 'https://site.test/orders'
const url = 'https://app.example/client.json'
const second = 1_000

const [open] = zoneTo([]).routes
const accepts = { scopes: ['orders.read'], server: null, account: null }
const gate = { kind: 'token', accepts, fields: [], endsOpen: false } as const
const zone = { ...zoneTo([]), hosts: ['site.test'], routes: [{ ...open!, path: '/orders', protect: [gate] }] }
const routes = new RouteResources(() => ({
  zones: [zone],
  scopes: [{ id: 'orders.read', description: 'See orders.' }],
}))

const requestWith = (cookie?: string) => ({ headers: { cookie } }) as IncomingMessage
const own = requestWith(`other=1; __Secure-gatehouse_consent=${uid}`)

/** What the interaction asks for. */
interface Wish {
  readonly params?: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly prompt?: string
  readonly reasons?: readonly string[]
  readonly client?: Partial<OAuthClient>
  /** Whether the client is known by a document that this process has, or that has to be fetched. */
  readonly document?: 'cached' | 'elsewhere'
}

/** Has an interaction of a public client, whose browser is that of a person with an account. */
async function start(t: TestContext, wish: Wish = {}) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  const clock = new ManualClock()
  const [home, owning] = [account({ name: 'Home' }), account()]
  for (const one of [home, owning]) await store.accounts.insert(one)
  const ada = user()
  await store.users.insert(ada)
  const joined = member({ account: home.id, user: ada.id, roles: roleIds(superAdministrator) })
  await store.members.insert(joined)
  const described = {
    ...{ account: everybody, id: documentIdOf(url) },
    document: { url, scope: null, keys: [], fetchedAt: 0, expiresAt: 1 },
  }
  const client = clientWith({
    ...{ account: owning.id, visibility: 'public', redirectUris: [callback] },
    ...{ scopes: ['user.read', 'email', 'ai_gateway.run', 'zones.read', 'orders.read'] },
    ...(wish.document !== undefined && described),
    ...wish.client,
  })
  if (wish.document === undefined) await store.oauthClients.insert(client)
  const site = { person: null as Person | null, keeps: true, onPerson: async () => {}, fault: false }
  site.person = { user: ada.id, email: ada.email, signedInAt: clock.now() - 60 * second }
  const clients = new ClientDirectory(store, {
    cached: () => (wish.document === 'cached' ? client : null),
    current: async () => (site.fault ? { fault: 'gone', reason: 'gone' } : client),
    keep: async () => site.keeps,
  })
  const noted: AuthorizationOutcome[] = []
  const interactions = new Interactions({
    ...{ store, clients, routes, clock, issuer: () => issuer, note: outcome => noted.push(outcome) },
    personOf: async () => {
      await site.onPerson()
      return site.person
    },
    apiOf: resource => (resource === ai ? 'ai' : null),
  })
  const { prompt = 'consent', reasons = [], params = {} } = wish
  const asked = {
    ...{ client_id: wish.document === undefined ? client.id : url, redirect_uri: callback },
    ...{ scope: 'user.read', login_hint: 'ada@example.com', ...params },
  }
  const data = {
    ...{ params: asked, prompt: { name: prompt, reasons }, returnTo: `${issuer}/oauth2/auth/${uid}` },
    lastSubmission: { login: { accountId: 'kept' } },
  }
  const stored = credential('interaction', {
    ...{ digest: digestOf(uid), data: JSON.parse(JSON.stringify(data)), createdAt: clock.now() },
  })
  await store.credentials.put(stored)
  const load = (request = own) => interactions.load(uid, request)
  const finish = (decision: Decision, request = own) => interactions.finish(uid, request, decision)
  /** Returns what the library is told. */
  const result = async () => {
    const { data } = (await store.credentials.get('interaction', digestOf(uid)))!
    return (data as { readonly result?: object }).result
  }
  return { store, clock, home, owning, ada, joined, client, site, noted, interactions, load, finish, result }
}

const gone = { kind: 'gone' } as const
const resumed = { kind: 'resume', location: `${issuer}/oauth2/auth/${uid}` } as const
const allow = (account: string | null, ...optional: string[]) =>
  ({ kind: 'allow', account, optional }) as const

test('an interaction is for the browser that began it, and ends with its client or redirect URI', async t => {
  const { interactions, load, finish, client } = await start(t)
  assert.equal((await load()).kind, 'consent')
  const cookies = ['', `__Secure-gatehouse_consent=${uid}x`, `gatehouse_consent=${uid}`]
  assert.deepEqual(await load(requestWith()), gone)
  for (const cookie of cookies) {
    assert.deepEqual(await load(requestWith(cookie)), gone, cookie)
    assert.deepEqual(await finish({ kind: 'deny' }, requestWith(cookie)), gone, cookie)
  }
  for (const other of ['', 'v'.repeat(21), `${uid}.`, 'u'.repeat(65)]) {
    const request = requestWith(`__Secure-gatehouse_consent=${other}`)
    assert.deepEqual(await interactions.load(other, request), gone, other)
    assert.equal(await interactions.clientOf(other), null)
  }
  assert.deepEqual(await interactions.clientOf(uid), client, 'whatever the browser')
  for (const params of [
    { redirect_uri: 'https://other.example/cb' },
    { redirect_uri: undefined },
    { client_id: 'f'.repeat(32) },
    { client_id: undefined },
  ])
    assert.deepEqual(await (await start(t, { params })).load(), gone, JSON.stringify(params))
})

test('a client that is known by a document is fetched where another machine has it', async t => {
  for (const document of ['cached', 'elsewhere'] as const) {
    const { interactions, client, site } = await start(t, { document })
    assert.deepEqual(await interactions.clientOf(uid), client)
    site.fault = true
    assert.deepEqual(await interactions.clientOf(uid), document === 'cached' ? client : null)
  }
})

test('who is not signed in, or not recently enough, signs in first', async t => {
  const login = (...reasons: string[]) => ({ prompt: 'login', reasons })
  const maxAge = (seconds: number, ...more: string[]) => ({
    ...login('max_age', ...more),
    params: { max_age: String(seconds) },
  })
  const minute = -60 * second
  const rows: readonly (readonly [Wish, signedIn: number | 'unknown' | 'nobody', boolean | null])[] = [
    [{}, 'nobody', false],
    [login('no_session'), 'nobody', false],
    [login('no_session', 'login_prompt'), 'nobody', true],
    [login('no_session'), minute, null],
    [login('no_session'), 'unknown', null],
    [login('login_prompt'), minute, true],
    [login('login_prompt'), 0, true],
    [login('login_prompt'), 1, null],
    [login('login_prompt'), 'unknown', true],
    [maxAge(60), minute, null],
    [maxAge(59), minute, true],
    [maxAge(60, 'login_prompt'), minute, true],
    [maxAge(60, 'no_session'), minute, null],
    [{ reasons: ['login_prompt'] }, minute, false],
  ]
  for (const [wish, signedIn, isFresh] of rows) {
    const { load, site, clock, ada, client, result } = await start(t, wish)
    const signedInAt = typeof signedIn === 'number' ? clock.now() + signedIn : null
    site.person = signedIn === 'nobody' ? null : { user: ada.id, email: ada.email, signedInAt }
    const row = JSON.stringify([wish, signedIn])
    if (isFresh !== null) {
      if (wish.prompt === undefined && signedIn !== 'nobody')
        assert.equal((await load()).kind, 'consent', row)
      else
        assert.deepEqual(
          await load(),
          { kind: 'sign_in', client, loginHint: 'ada@example.com', isFresh },
          row,
        )
      continue
    }
    assert.deepEqual(await load(), resumed, row)
    const ts = signedInAt === null ? {} : { ts: Math.floor(signedInAt / 1000) }
    assert.deepEqual(await result(), { login: { accountId: ada.id, ...ts } }, row)
  }
})

test('a login hint is a text', async t => {
  const { load, site } = await start(t, { params: { login_hint: ['a', 'b'] } })
  site.person = null
  const step = await load()
  assert.ok(step.kind === 'sign_in')
  assert.equal(step.loginHint, null)
})

test('an interaction that ends meanwhile leads nowhere', async t => {
  const { load, site, store, result } = await start(t, { prompt: 'login', reasons: ['no_session'] })
  site.onPerson = async () => void (await store.credentials.remove('interaction', digestOf(uid)))
  assert.deepEqual(await load(), gone)
  await assert.rejects(result())
})

test('a person is shown what they are asked, and what they have allowed before', async t => {
  const scope = 'user.read email ai_gateway.run orders.read unknown'
  const resource = [ai, orders, 'https://site.test/gone']
  const { load, finish, home, client, ada, joined, store } = await start(t, { params: { scope, resource } })
  const step = await load()
  assert.ok(step.kind === 'consent')
  const { scopes, accounts, apis, resources, remembered, redirectUri, person } = step
  assert.deepEqual(
    scopes.map(({ id, isOptional }) => [id, isOptional]),
    [
      ['user.read', false],
      ['ai_gateway.run', false],
      ['orders.read', false],
    ],
    'the address is part of another one',
  )
  assert.deepEqual(accounts, [{ id: home.id, name: 'Home' }])
  assert.deepEqual([apis, resources], [['ai'], [orders]])
  assert.deepEqual([remembered, redirectUri, person.user, step.client], [null, callback, ada.id, client])
  assert.deepEqual(await finish(allow(home.id)), resumed)
  const again = await load()
  assert.ok(again.kind === 'consent')
  assert.deepEqual([again.remembered?.account, again.remembered?.isHostSeen], [home.id, true])
  await store.members.remove(home.id, joined.id)
  assert.equal((await load()).kind, 'refused')
})

test('a scope that another one includes is asked where the other one can be declined alone', async t => {
  const idsWith = async (optionalScopes: readonly string[]) => {
    const { load } = await start(t, { params: { scope: 'user.read email' }, client: { optionalScopes } })
    const step = await load()
    assert.ok(step.kind === 'consent')
    assert.deepEqual([step.accounts, step.apis], [[], ['management', 'ai']])
    return step.scopes.map(({ id }) => id)
  }
  assert.deepEqual(await idsWith([]), ['user.read'])
  assert.deepEqual(await idsWith(['user.read']), ['email', 'user.read'])
  assert.deepEqual(await idsWith(['user.read', 'email']), ['user.read'])
  assert.deepEqual(await idsWith(['email']), ['user.read'])
})

test('what an app must not get is refused, and noted at once', async t => {
  type Change = (site: Awaited<ReturnType<typeof start>>) => Promise<unknown>
  const wide = { params: { scope: 'user.read ai_gateway.run' } }
  const rolesOf = (roles: string[]) => async (site: Awaited<ReturnType<typeof start>>) => {
    const { record, version } = (await site.store.members.get(site.home.id, site.joined.id))!
    await site.store.members.replace({ ...record, roles }, version)
  }
  const rows: readonly (readonly [Wish, Change, string | null])[] = [
    [{ client: { visibility: 'private' } }, async () => {}, 'not a member'],
    [
      { client: { visibility: 'private' } },
      ({ store, owning, ada }) => store.members.insert(member({ account: owning.id, user: ada.id })),
      null,
    ],
    [wide, rolesOf([]), 'no account'],
    [{ ...wide, client: { optionalScopes: ['ai_gateway.run'] } }, rolesOf([]), null],
    [{ params: { scope: 'user.read orders.read' } }, rolesOf([]), null],
    [wide, ({ store, home, joined }) => store.members.remove(home.id, joined.id), 'no account'],
    [
      wide,
      async ({ store, home, joined }) => {
        const { record, version } = (await store.members.get(home.id, joined.id))!
        await store.members.replace({ ...record, status: 'pending' }, version)
      },
      'no account',
    ],
    [{ ...wide, document: 'cached' }, async () => {}, 'not allowed'],
    [
      { ...wide, document: 'cached' },
      ({ store, home }) => store.accounts.update(home.id, { allowsDocumentClients: true }),
      null,
    ],
    [
      wide,
      ({ store, home }) => store.accounts.update(home.id, { enforceTwoFactor: true }),
      'no second factor',
    ],
    [wide, ({ store, ada }) => store.users.remove(everybody, ada.id), 'no second factor'],
  ]
  for (const [wish, change, reason] of rows) {
    const site = await start(t, wish)
    await change(site)
    const step = await site.load()
    const row = `${JSON.stringify(wish)} ${change}`
    assert.equal(step.kind === 'refused' ? step.reason : null, reason, row)
    assert.equal(step.kind, reason === null ? 'consent' : 'refused', row)
    assert.equal(site.noted.length, reason === null ? 0 : 1)
    if (reason === null) continue
    const { reason: told, ...outcome } = site.noted[0]!
    assert.deepEqual(outcome, {
      ...{ client: site.client.id, clientAccount: site.client.account, step: 'consent', result: 'failure' },
      ...{ error: 'access_denied', user: site.ada.id, account: null, address: '', ray: '', isUnproven: true },
    })
    assert.deepEqual(await site.finish(allow(site.home.id)), { kind: 'invalid' }, row)
    assert.deepEqual(await site.finish({ kind: 'deny' }), resumed)
    assert.deepEqual(await site.result(), { error: 'access_denied', error_description: told })
  }
})

test('who denies is sent back with that, signed in or not', async t => {
  const { finish, site, result } = await start(t)
  const denied = { error: 'access_denied', error_description: 'the person did not allow it' }
  assert.deepEqual(await finish({ kind: 'deny' }), resumed)
  assert.deepEqual(await result(), denied)
  site.person = null
  assert.deepEqual(await finish({ kind: 'deny' }), resumed)
  assert.deepEqual(await result(), denied)
  assert.deepEqual(await finish(allow(null)), gone)
})

test('a decision is stored for an account that was offered, and the library told of it', async t => {
  const scope = 'user.read ai_gateway.run zones.read'
  const client = { optionalScopes: ['ai_gateway.run', 'zones.read'] }
  const site = await start(t, { params: { scope, resource: ai }, client })
  const { finish, home, owning, store, result, ada } = site
  for (const other of [null, owning.id, everybody])
    assert.deepEqual(await finish(allow(other)), { kind: 'invalid' }, String(other))
  assert.deepEqual(await finish(allow(home.id, 'zones.read', 'unknown')), resumed)
  const { items } = await store.oauthGrants.ofUser(ada.id, { offset: 0, limit: 9 })
  assert.equal(items.length, 1)
  const { id, scopes, declined, resource, redirectHosts, account } = items[0]!
  assert.deepEqual(
    [scopes.toSorted(), declined, resource],
    [['user.read', 'zones.read'], ['ai_gateway.run'], [ai]],
  )
  assert.deepEqual([redirectHosts, account], [['app.example'], home.id])
  assert.deepEqual(await result(), {
    ...{ login: { accountId: 'kept' }, select_account: {}, consent: { account: home.id, grant: id } },
  })
})

test('scopes that concern no account are allowed for none', async t => {
  const { finish, home, store, ada } = await start(t)
  assert.deepEqual(await finish(allow(home.id)), { kind: 'invalid' })
  assert.deepEqual(await finish(allow(null)), resumed)
  const { items } = await store.oauthGrants.ofUser(ada.id, { offset: 0, limit: 9 })
  assert.deepEqual([items[0]!.account, items[0]!.resource], [everybody, []])
})

test('an app that is one too many of its kind is told so, and nothing is allowed', async t => {
  const { finish, site, result, store, ada } = await start(t, { document: 'cached' })
  site.keeps = false
  assert.deepEqual(await finish(allow(null)), resumed)
  assert.equal(((await result()) as { readonly error: string }).error, 'temporarily_unavailable')
  assert.equal((await store.oauthGrants.ofUser(ada.id, { offset: 0, limit: 1 })).total, 0)
})
