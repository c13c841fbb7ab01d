// Documents as this process fetches, caches and stores them, and the clients that come of them.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { Limiter } from '../../../src/limits/limiter.ts'
import { createLogger } from '../../../src/log/log.ts'
import { PeopleMetrics } from '../../../src/metrics/counters/people-metrics.ts'
import { documentIdOf } from '../../../src/oauth/clients/document-url.ts'
import { ClientDocuments } from '../../../src/oauth/documents/client-documents.ts'
import { faultOfUrl } from '../../../src/oauth/documents/fetch-document.ts'
import { oauthScopes, scopesWith } from '../../../src/permissions/scopes.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { openStore } from '../../../src/store/open.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { Authority } from '../../help/certificates.ts'
import { ManualClock } from '../../help/clock.ts'
import { startHttps } from '../../help/https-server.ts'
import { until } from '../../help/until.ts'
import { auditQuery, credential, oauthGrant } from '../../store/contract-specimens.ts'

const authority = new Authority()
const identity = authority.issue(['localhost'])
const minute = 60_000
const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x, y }] }

interface Page {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Has documents on a host, and what fetches them; `publish` puts one at a path, of a client that asks for all. */
async function start(t: TestContext, { maxClients = 1_000, mayDial = true, hosts = [] as string[] } = {}) {
  const pages = new Map<string, Page>()
  const asked: string[] = []
  const waits = new Map<string, Promise<unknown>>()
  const serve: Parameters<typeof startHttps>[2] = async (request, response) => {
    asked.push(request.url!)
    await waits.get(request.url!)
    const { status = 200, headers = {}, body = '' } = pages.get(request.url!) ?? { status: 404 }
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }
  const servers = await Promise.all(Array.from({ length: 5 }, () => startHttps(t, identity, serve)))
  const allHosts = servers.map(({ port }) => `localhost:${port}`)
  const host = allHosts[0]!
  const urlOf = (path: string, name = host) => `https://${name}${path}`
  const publish = (path: string, document: object = {}, page: Page = {}, name = host) => {
    const usual = { client_id: urlOf(path, name), redirect_uris: ['https://app.example/cb'] }
    pages.set(path, { body: JSON.stringify({ ...usual, ...document }), ...page })
    return urlOf(path, name)
  }
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  const clock = new ManualClock()
  const metrics = new PeopleMetrics()
  const lines: string[] = []
  const scopes = [...oauthScopes]
  const options = {
    ...{ hosts: [...hosts, ...allHosts], maxClients },
    ...(mayDial && { isAllowed: () => true, ca: authority.certificate }),
  }
  const documents = new ClientDocuments({
    ...{ options, store, limiter: new Limiter({ clock }), scopes: () => scopes, metrics },
    ...{ log: createLogger('info', { write: line => lines.push(line) }), clock },
  })
  t.after(() => documents.close())
  t.after(() => store.close())
  const counts = () =>
    Object.fromEntries(
      Object.entries(metrics.clientDocuments)
        .map(([name, { value }]) => [name, Number(value)] as const)
        .filter(([, count]) => count > 0),
    )
  const current = async (url: string, sender: string | null = '192.0.2.1') => {
    const client = await documents.current(url, sender)
    assert.ok(!('fault' in client), JSON.stringify(client))
    return client
  }
  const refused = async (url: string, sender: string | null = '192.0.2.1') => {
    const fault = await documents.current(url, sender)
    assert.ok('fault' in fault)
    return [fault.fault, fault.reason] as const
  }
  const stored = async (url: string) =>
    (await store.oauthClients.get(everybody, documentIdOf(url)))?.record ?? null
  /** Keeps the responses to paths back; returns what releases one of them. */
  const hold = (...paths: readonly string[]) => {
    const held = paths.map(path => [path, Promise.withResolvers<void>()] as const)
    for (const [path, { promise }] of held) waits.set(path, promise)
    return (path: string) => held.find(([one]) => one === path)![1].resolve()
  }
  const made = { publish, current, refused, stored, counts, hold }
  return { ...made, metrics, documents, store, clock, options, pages, asked, host, allHosts, lines, scopes }
}

test('a client is what its document says, and is fetched again once its time in caches is over', async t => {
  const { publish, current, documents, clock, asked, counts, stored } = await start(t)
  const url = publish('/c', { client_name: 'Editor', scope: 'openid mcp.tools' })
  assert.equal(documents.cached(url), null)
  const before = clock.now()
  const client = await current(url)
  const document = { url, scope: ['openid', 'mcp.tools'], keys: [], fetchedAt: before }
  assert.deepEqual(
    { ...client, ...{ redirectUris: 0, responseTypes: 0, allowedCorsOrigins: 0, grantTypes: 0 } },
    {
      ...{ account: everybody, id: documentIdOf(url), name: 'Editor', tokenEndpointAuthMethod: 'none' },
      ...{ redirectUris: 0, responseTypes: 0, allowedCorsOrigins: 0, grantTypes: 0 },
      ...{ postLogoutRedirectUris: [], optionalScopes: [], scopes: ['openid'], secrets: [] },
      ...{ logoUri: null, policyUri: null, tosUri: null, clientUri: null, verification: null },
      ...{ visibility: 'public', revision: 1, createdAt: before, updatedAt: before, promotedAt: null },
      document: { ...document, expiresAt: before + 5 * minute },
    },
  )
  assert.equal(documents.cached(url), client)
  clock.advance(5 * minute - 1)
  assert.equal(await current(url), client)
  assert.deepEqual(asked, ['/c'])
  clock.advance(1)
  assert.notEqual(await current(url), client)
  assert.deepEqual(asked, ['/c', '/c'])
  assert.deepEqual(counts(), { fetched: 2 })
  assert.equal(await stored(url), null)
})

test('a client that names no scopes gets those that the operator adds, and one that may not refresh needs no more', async t => {
  const { publish, current, asked, scopes } = await start(t)
  const all = oauthScopes.map(({ id }) => id)
  const plain = publish('/plain')
  const refreshing = publish('/refreshing', { grant_types: ['authorization_code', 'refresh_token'] })
  const named = publish('/named', { scope: 'openid' })
  assert.deepEqual(
    (await current(plain)).scopes,
    all.filter(id => id !== 'offline_access'),
  )
  assert.deepEqual((await current(refreshing)).scopes, all)
  assert.deepEqual((await current(named)).scopes, ['openid'])
  for (const url of [plain, refreshing, named]) await current(url)
  assert.equal(asked.length, 3)
  scopes.splice(0, scopes.length, ...scopesWith([{ id: 'orders.read', description: 'See orders.' }] as never))
  assert.ok((await current(plain)).scopes.includes('orders.read'))
  await current(named)
  assert.deepEqual(asked.slice(3), ['/plain'])
})

test('what a server says of a document that cannot be taken is told by its kind', async t => {
  const { pages, publish, refused, counts, host } = await start(t)
  const url = publish('/c')
  const { body } = pages.get('/c')!
  const rows: readonly (readonly [Page, string, RegExp])[] = [
    [{ status: 404 }, 'gone', /its status is 404$/],
    [{ status: 410 }, 'gone', /its status is 410$/],
    [{ status: 500 }, 'unreachable', /not 500$/],
    [{ status: 503 }, 'unreachable', /not 503$/],
    [{ status: 429 }, 'unreachable', /not 429$/],
    [{ status: 499 }, 'invalid', /not 499$/],
    [{ status: 204 }, 'invalid', /not 204$/],
    [{ headers: { 'content-type': 'text/json' } }, 'invalid', /type application\/json/],
    [{ headers: { 'content-type': 'application/x+json-seq' } }, 'invalid', /type application\/json/],
    [{ headers: { 'content-type': '' } }, 'invalid', /type application\/json/],
    [{ headers: { 'content-encoding': 'br' } }, 'invalid', /not be compressed/],
    [{ body: body!.padEnd(5 * 1024 + 1) }, 'invalid', /at most 5120 bytes/],
    [{ body: '[' }, 'invalid', /JSON/],
  ]
  const expected: Record<string, number> = {}
  for (const [page, kind, rule] of rows) {
    pages.set('/c', { body: body!, ...page })
    const [fault, reason] = await refused(url, null)
    assert.equal(fault, kind, reason)
    assert.match(reason, rule)
    expected[kind] = (expected[kind] ?? 0) + 1
  }
  assert.deepEqual(counts(), expected)
  const [fault, reason] = await refused(`https://${host}/?a`)
  assert.deepEqual([fault, reason], ['invalid', 'client_id must not have a query'])
  assert.match((await refused('https://other.example/c'))[1], /must be on a host that this server allows/)
  assert.equal(counts().invalid, expected.invalid! + 2)
  assert.equal(faultOfUrl(url, 'client_id', [host]), null)
})

test('a type with parameters or a suffix, and the longest document, are taken', async t => {
  const { publish, current, pages } = await start(t)
  for (const [i, type] of ['application/json; charset=utf-8', 'Application/CIMD+JSON'].entries())
    await current(publish(`/${i}`, {}, { headers: { 'content-type': type, 'content-encoding': 'identity' } }))
  const url = publish('/long')
  pages.set('/long', { body: pages.get('/long')!.body!.padEnd(5 * 1024) })
  await current(url)
})

test('an address that is not public is not asked, and a server that does not respond is told so', async t => {
  const { publish, refused, asked } = await start(t, { mayDial: false })
  const [fault, reason] = await refused(publish('/c'))
  assert.deepEqual([fault, asked], ['invalid', []])
  assert.equal(reason, 'the document could not be fetched: its address is not on the public Internet')
  const { refused: missed } = await start(t, { hosts: ['localhost:1'] })
  assert.equal((await missed('https://localhost:1/c'))[0], 'unreachable')
})

test('a host that is no longer allowed opens none of its clients, though they are stored', async t => {
  const { publish, current, documents, store, options, asked, clock, ...parts } = await start(t)
  const url = publish('/c')
  await documents.keep(await current(url), 'ada')
  const closed = new ClientDocuments({
    ...{
      options: { ...options, hosts: [] },
      store,
      clock,
      limiter: new Limiter({ clock }),
      scopes: () => [],
    },
    ...{ metrics: parts.metrics, log: createLogger('error', { write: () => {} }) },
  })
  t.after(() => closed.close())
  const client = await closed.current(url, null)
  assert.ok('fault' in client)
  assert.deepEqual([client.fault, asked.length], ['invalid', 1])
})

test('nothing is fetched once it is closed, and what its server no longer has is forgotten', async t => {
  const { publish, pages, current, refused, documents, clock } = await start(t)
  const url = publish('/c')
  await current(url)
  pages.delete('/c')
  clock.advance(5 * minute)
  assert.equal((await refused(url))[0], 'gone')
  assert.equal(documents.cached(url), null)
  await documents.close()
  assert.equal((await refused(publish('/d')))[0], 'unreachable')
})

test('keys come with the document or from the set that it names, which obeys the same rules', async t => {
  const { publish, current, refused, pages, host } = await start(t)
  const method = { token_endpoint_auth_method: 'private_key_jwt' }
  const own = await current(publish('/own', { ...method, jwks }))
  assert.deepEqual(own.document?.keys, jwks.keys)
  const url = publish('/set', { ...method, jwks_uri: `https://${host}/keys` })
  const sets: readonly (readonly [Page | null, string, RegExp])[] = [
    [null, 'invalid', /^the key set does not exist/],
    [{ status: 503 }, 'unreachable', /^the key set must come/],
    [{ body: '{}' }, 'invalid', /^the key set must be an object/],
  ]
  for (const [page, kind, rule] of sets) {
    if (page === null) pages.delete('/keys')
    else pages.set('/keys', page)
    const [fault, reason] = await refused(url)
    assert.equal(fault, kind)
    assert.match(reason, rule)
  }
  const [, reason] = await refused(publish('/away', { ...method, jwks_uri: 'https://other.example/keys' }))
  assert.match(reason, /^jwks_uri must be on a host/)
  pages.set('/keys', { body: JSON.stringify(jwks) })
  assert.deepEqual((await current(url)).document?.keys, jwks.keys)
})

test('a client is stored once, for a user, and is then what is found; there may be so many of all', async t => {
  const { publish, current, documents, store, stored, asked, clock } = await start(t, { maxClients: 2 })
  const [one, two, three] = ['/1', '/2', '/3'].map(path => publish(path)) as [string, string, string]
  const client = await current(one)
  assert.equal(await documents.keep(client, 'ada'), true)
  assert.deepEqual(await stored(one), client)
  assert.equal(documents.cached(one), null)
  assert.equal(await documents.keep(client, 'ada'), true)
  assert.deepEqual(await current(one), client)
  assert.deepEqual(asked, ['/1'])
  const { items } = await store.audit.list(everybody, auditQuery())
  assert.deepEqual(
    items.map(({ action, resourceKind, resource, resourceName }) => [
      action,
      resourceKind,
      resource,
      resourceName,
    ]),
    [['create', 'oauth_client', client.id, one]],
  )
  assert.equal(await documents.keep(await current(two), 'ada'), true)
  assert.equal(await documents.keep(await current(three), 'ada'), false)
  assert.equal(await documents.keep(client, 'ada'), true, 'it is stored')
  clock.advance(5 * minute)
  publish('/1', { client_name: 'Another name' })
  const renewed = await current(one)
  assert.deepEqual(
    [renewed.name, renewed.revision, renewed.createdAt, renewed.updatedAt],
    ['Another name', 2, client.createdAt, clock.now()],
  )
  assert.deepEqual(await stored(one), renewed)
  assert.equal(documents.cached(one), null)
})

test('one user has at most 50 clients stored in a day', async t => {
  const { publish, current, documents, clock } = await start(t)
  const client = await current(publish('/c'))
  const other = (i: number): OAuthClient => {
    const url = `${client.document!.url}${i}`
    return { ...client, id: documentIdOf(url), document: { ...client.document!, url } }
  }
  for (let i = 0; i < 50; i++) assert.equal(await documents.keep(other(i), 'ada'), true)
  assert.equal(await documents.keep(other(50), 'ada'), false)
  assert.equal(await documents.keep(other(50), 'bob'), true)
  clock.advance(48 * 60 * minute)
  assert.equal(await documents.keep(other(51), 'ada'), true)
})

/** Stores the client of a document with what was allowed to it, and one that others were. */
async function connected({ current, documents, store }: Awaited<ReturnType<typeof start>>, url: string) {
  const client = await current(url)
  await documents.keep(client, 'ada')
  const grants = Array.from({ length: 51 }, () => oauthGrant({ client: client.id, clientAccount: everybody }))
  const other = oauthGrant()
  for (const grant of [...grants, other]) await store.oauthGrants.insert(grant)
  const token = credential('access_token', { client: client.id })
  const interaction = credential('interaction', { client: client.id, grant: null })
  for (const one of [token, interaction]) await store.credentials.put(one)
  const left = async () => [
    (await store.oauthGrants.ofClient(client.id, { offset: 0, limit: 1 })).total,
    ...(await Promise.all(
      [token, interaction].map(({ kind, digest }) => store.credentials.get(kind, digest)),
    )),
  ]
  return { client, grants, other, left }
}

test('a stored client ends with all that it was allowed when its document is gone, and only then', async t => {
  const ground = await start(t)
  const { publish, pages, clock, refused, documents, stored, store, lines } = ground
  const url = publish('/c')
  const { client, grants, other, left } = await connected(ground, url)
  clock.advance(5 * minute)
  pages.set('/c', { status: 503 })
  assert.equal((await refused(url))[0], 'unreachable')
  assert.deepEqual(await documents.renew(client), {
    fault: 'unreachable',
    reason: 'the document must come with the status 200, not 503',
  })
  assert.deepEqual(await stored(url), client)
  pages.delete('/c')
  assert.deepEqual(await documents.renew(client), {
    fault: 'gone',
    reason: 'the document does not exist: its status is 404',
  })
  assert.equal(await stored(url), null)
  assert.deepEqual(await left(), [0, null, null])
  assert.ok(await store.oauthGrants.get(other.account, other.id))
  assert.equal(await documents.renew(client), null)
  const [line] = lines.map(line => JSON.parse(line)).filter(({ msg }) => /ended/.test(msg))
  assert.deepEqual(
    [line.msg, line.url, line.name, line.reason],
    [
      'client that is known by its document ended',
      url,
      client.name,
      'the document does not exist: its status is 404',
    ],
  )
  const { account, id } = grants[0]!
  const { items } = await store.audit.list(account, auditQuery())
  assert.deepEqual(
    items.map(({ action, resourceKind, resource }) => [action, resourceKind, resource]),
    [['revoke', 'oauth_grant', id]],
  )
  t.mock
    .method(store.credentials, 'removeOf')
    .mock.mockImplementationOnce(() => Promise.reject(new StoreUnreachable()))
  await assert.rejects(documents.end(client, 'again'), StoreUnreachable)
  assert.equal(lines.filter(line => /ended/.test(line)).length, 1)
})

test('another method of authentication ends what was allowed, and the client goes on as a new one', async t => {
  const ground = await start(t)
  const { publish, clock, current, documents, stored } = ground
  const url = publish('/c')
  const { left } = await connected(ground, url)
  clock.advance(5 * minute)
  publish('/c', { token_endpoint_auth_method: 'private_key_jwt', jwks })
  const changed = await current(url)
  assert.equal(changed.tokenEndpointAuthMethod, 'private_key_jwt')
  assert.deepEqual(await left(), [0, null, null])
  assert.equal(await stored(url), null)
  assert.equal(documents.cached(url), changed)
})

const busy = ['busy', 'too many documents are being fetched']

test('a document is fetched once for all who wait, and few at once from one host', async t => {
  const { publish, current, refused, asked, hold, counts } = await start(t)
  const paths = ['/0', '/1', '/2', '/3', '/4']
  const urls = paths.map(path => publish(path))
  const release = hold(...paths)
  const waiting = [0, 0, 0, 1, 2, 3].map(i => current(urls[i]!))
  await until(() => asked.length === 4)
  const last = publish('/last')
  assert.deepEqual(await refused(last), busy)
  release('/0')
  const [one, , other] = await Promise.all(waiting.slice(0, 3))
  assert.equal(one, other)
  const next = current(urls[4]!)
  assert.deepEqual(await refused(last), busy)
  for (const path of paths) release(path)
  await Promise.all([...waiting, next])
  await current(last)
  assert.deepEqual(counts(), { fetched: 6, busy: 2 })
})

test('few documents are fetched at once from all hosts together', async t => {
  const { publish, current, refused, asked, hold, allHosts } = await start(t)
  const urls = allHosts.flatMap((host, i) => [0, 1, 2, 3].map(j => publish(`/${i}-${j}`, {}, {}, host)))
  const paths = urls.map(url => new URL(url).pathname)
  const release = hold(...paths)
  const waiting = urls.slice(0, 16).map(url => current(url))
  await until(() => asked.length === 16)
  assert.deepEqual(await refused(urls[16]!), busy)
  for (const path of paths) release(path)
  await Promise.all(waiting)
  await current(urls[16]!)
})

test('strangers have few documents fetched, by who they are and by host, which does not touch stored ones', async t => {
  const { publish, current, refused, documents, clock, host } = await start(t)
  const stored = publish('/stored')
  await documents.keep(await current(stored, null), 'ada')
  for (let i = 0; i < 30; i++) await current(publish(`/${i}`))
  const [fault, reason] = await refused(publish('/30'))
  assert.equal(fault, 'busy')
  assert.match(
    reason,
    new RegExp(`^too many documents were fetched for you, or from ${host}; try again in \\d+ s$`),
  )
  const assertWait = (reason: string) => {
    const wait = Number(/(\d+) s$/.exec(reason)![1])
    assert.ok(wait > 60 && wait <= 1_200, reason)
  }
  assertWait(reason)
  for (let i = 31; i < 120; i++) await current(publish(`/${i}`), i < 60 ? '192.0.2.2' : null)
  assertWait((await refused(publish('/120'), null))[1])
  clock.advance(5 * minute)
  await current(stored, '192.0.2.1')
  clock.advance(20 * minute)
  await current(publish('/121'))
  for (let i = 0; i < 20; i++) {
    const client = await documents.renew(await current(stored))
    assert.ok(client === null || !('fault' in client) || client.fault === 'busy')
  }
  const late = await documents.renew(await current(stored))
  assert.ok(late !== null && 'fault' in late && late.fault === 'busy')
  assertWait(late.reason)
})

test('nobody is refused a document because of who else asks for it at the same time', async t => {
  const { publish, documents, asked } = await start(t)
  for (let i = 0; i < 30; i++) await documents.current(publish(`/${i}`), '192.0.2.1')
  const url = publish('/last')
  const [first, ...others] = await Promise.all(
    ['192.0.2.1', '192.0.2.2', '192.0.2.3', null].map(sender => documents.current(url, sender)),
  )
  assert.ok('fault' in first!)
  for (const client of others) assert.ok(!('fault' in client), JSON.stringify(client))
  assert.equal(asked.filter(path => path === '/last').length, 1)
})

test('five hundred documents of strangers are in memory, the newest', async t => {
  const { publish, current, documents, clock } = await start(t)
  const urls: string[] = []
  for (let i = 0; i < 501; i++) {
    if (i % 100 === 0) clock.advance(21 * minute)
    urls.push(publish(`/${i}`))
    await current(urls[i]!, null)
  }
  assert.deepEqual(
    [0, 1, 500].map(i => documents.cached(urls[i]!) !== null),
    [false, true, true],
  )
})
