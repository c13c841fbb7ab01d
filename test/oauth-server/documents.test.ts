// Clients that are known by the URL of a document: what is fetched, what it is good for, and how that ends.

import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { clientIdOf, documentIdOf } from '../../src/oauth/clients/document-url.ts'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import { everybody } from '../../src/store/records/people.ts'
import { Authority } from '../help/certificates.ts'
import { startHttps } from '../help/https-server.ts'
import { startRedis } from '../help/redis.ts'
import { errorIn, type Tokens, tokensIn } from './app.ts'
import { authorize, Browser, callback, makeAccount, makeUser, pkce, type Site, startSite } from './site.ts'

const authority = new Authority()
const identity = authority.issue(['localhost'])

interface Served {
  status?: number
  headers?: Readonly<Record<string, string>>
  body: string | Buffer
}

/** Has an authorization server, and a host with documents. */
async function start(t: TestContext, options: Parameters<typeof startSite>[1] = {}) {
  const pages = new Map<string, Served>()
  const asked: string[] = []
  const { port, connections } = await startHttps(t, identity, (request, response) => {
    asked.push(request.url!)
    const { status = 200, headers = {}, body } = pages.get(request.url!) ?? { status: 404, body: '' }
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  const host = `localhost:${port}`
  const documents = { hosts: [host], isAllowed: () => true, ca: authority.certificate, ...options.documents }
  const site = await startSite(t, { ...options, documents })
  const url = `https://${host}/client.json`
  const publish = (document: object, more: Partial<Served> = {}) => {
    const body = JSON.stringify({ client_id: url, redirect_uris: [callback], grant_types, ...document })
    pages.set('/client.json', { body, ...more })
  }
  publish({ client_name: 'Editor' })
  const account = await makeAccount(site)
  const user = await makeUser(site, account)
  return {
    site,
    url,
    host,
    pages,
    asked,
    connections,
    publish,
    account,
    user,
    browser: new Browser(site.issuer).signIn(user),
  }
}

const grant_types = ['authorization_code', 'refresh_token']
const scope = 'openid offline_access user.read'

function pathOf(url: string, challenge: string, more: Readonly<Record<string, string>> = {}) {
  const params = { client_id: url, response_type: 'code', redirect_uri: callback, scope, ...more }
  const query = new URLSearchParams({ ...params, code_challenge: challenge, code_challenge_method: 'S256' })
  return `/oauth2/auth?${query}`
}

function post({ issuer }: Site, path: string, params: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(`${issuer}${path}`, { method: 'POST', body: new URLSearchParams(params) })
}

async function connect(
  site: Site,
  browser: Browser,
  url: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Tokens> {
  const { verifier, challenge } = pkce()
  const back = await authorize(site, browser, pathOf(url, challenge))
  const code = back.searchParams.get('code')!
  const params = { grant_type: 'authorization_code', client_id: url, code, redirect_uri: callback, ...more }
  return tokensIn(await post(site, '/oauth2/token', { ...params, code_verifier: verifier }))
}

function refresh(site: Site, url: string, token: string): Promise<Response> {
  return post(site, '/oauth2/token', { grant_type: 'refresh_token', client_id: url, refresh_token: token })
}

async function isActive(site: Site, url: string, token: string): Promise<boolean> {
  const response = await post(site, '/oauth2/introspect', { client_id: url, token })
  return ((await response.json()) as { active: boolean }).active
}

/** Has the time in caches of a stored document be over, as if it had been fetched an hour ago. */
async function age({ store }: Site, url: string): Promise<void> {
  const { record, version } = (await store.oauthClients.get(everybody, documentIdOf(url)))!
  const before = Date.now() - 3_600_001
  const document = { ...record.document!, fetchedAt: before, expiresAt: before }
  await store.oauthClients.replace({ ...record, document }, version)
}

test('discovery tells of documents exactly when they are on, and a URL is no client when they are off', async t => {
  const { site, url } = await start(t)
  const off = await startSite(t)
  const discovered = async ({ issuer }: Site) =>
    (await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as Record<
      string,
      unknown
    >
  const on = await discovered(site)
  assert.equal(on.client_id_metadata_document_supported, true)
  assert.ok((on.token_endpoint_auth_methods_supported as string[]).includes('private_key_jwt'))
  const without = await discovered(off)
  assert.equal('client_id_metadata_document_supported' in without, false)
  assert.equal((without.token_endpoint_auth_methods_supported as string[]).includes('private_key_jwt'), false)
  const response = await new Browser(off.issuer).get(pathOf(url, pkce().challenge))
  assert.equal(response.status, 400)
  assert.match(await response.text(), /no client has this client_id: this server takes no documents/)
  const unknown = await new Browser(off.issuer).get(pathOf('0'.repeat(32), pkce().challenge))
  assert.doesNotMatch(await unknown.text(), /documents/)
})

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

function keyed(key: KeyObject): object {
  const jwks = { keys: [{ ...key.export({ format: 'jwk' }), kid: 'a' }] }
  return { token_endpoint_auth_method: 'private_key_jwt', jwks }
}

function assertionOf({ issuer }: Site, url: string, claims: object = {}, key: KeyObject = privateKey) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const usual = { iss: url, sub: url, aud: issuer, jti: randomUUID(), iat: now, exp: now + 60 }
  const signed = `${part({ alg: 'ES256', kid: 'a' })}.${part({ ...usual, ...claims })}`
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: `${signed}.${signature.toString('base64url')}`,
  }
}

const stores = {
  SQLite: async () => 'sqlite::memory:',
  Redis: async (t: TestContext) => (await startRedis(t)).url,
}

for (const [name, urlFor] of Object.entries(stores)) {
  test(`${name}: a client is known by its document alone, which is fetched once`, async t => {
    const { site, url, asked, browser, user } = await start(t, { url: await urlFor(t) })
    const tokens = await connect(site, browser, url)
    const claims = JSON.parse(Buffer.from(tokens.id_token.split('.')[1]!, 'base64url').toString())
    assert.deepEqual([claims.aud, claims.sub], [url, user.id])
    const { access_token, refresh_token } = await tokensIn(await refresh(site, url, tokens.refresh_token))
    assert.equal(await isActive(site, url, access_token), true)
    assert.deepEqual(asked, ['/client.json'])
    assert.equal(Number(site.metrics.clientDocuments.fetched.value), 1)
    // The id under which it is stored is known to nobody.
    const stored = documentIdOf(url)
    assert.equal((await refresh(site, stored, refresh_token)).status, 401)
    const response = await browser.get(pathOf(stored, pkce().challenge))
    assert.equal(response.status, 400)
    assert.equal((await post(site, '/oauth2/revoke', { client_id: url, token: refresh_token })).status, 200)
    assert.equal(await isActive(site, url, access_token), false)
  })

  test(`${name}: a client with a key proves that it has it, each time anew`, async t => {
    const { site, url, publish, browser, pages, host } = await start(t, { url: await urlFor(t) })
    publish(keyed(publicKey))
    const first = assertionOf(site, url)
    const tokens = await connect(site, browser, url, first)
    const grant = (more: object) =>
      post(site, '/oauth2/token', {
        grant_type: 'refresh_token',
        client_id: url,
        refresh_token: tokens.refresh_token,
        ...more,
      })
    const other = createPrivateKey(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }),
    )
    const hour = Math.floor(Date.now() / 1000) + 3_600
    for (const faulty of [
      {},
      first,
      assertionOf(site, url, {}, other),
      assertionOf(site, url, { aud: 'https://other.example' }),
      assertionOf(site, url, { iss: 'https://other.example/c' }),
      assertionOf(site, url, { exp: hour }),
      assertionOf(site, url, { exp: 1 }),
      assertionOf(site, url, { jti: undefined }),
    ]) {
      const refused = await grant(faulty)
      assert.deepEqual([refused.status, (await errorIn(refused)).error], [401, 'invalid_client'])
    }
    const twice = assertionOf(site, url)
    const both = await Promise.all([grant(twice), grant(twice)])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401])
    await age(site, url)
    publish({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `https://${host}/keys.json` })
    const { d: _, ...key } = other.export({ format: 'jwk' })
    pages.set('/keys.json', { body: JSON.stringify({ keys: [{ ...key, kid: 'a' }] }) })
    const { refresh_token } = await tokensIn(await both.find(({ status }) => status === 200)!)
    assert.equal((await grant({ refresh_token, ...assertionOf(site, url, {}, other) })).status, 200)
  })
}

test('what breaks a rule is refused with that rule, and fetched again the next time', async t => {
  const { url, pages, publish, asked, browser } = await start(t)
  const whole = pages.get('/client.json')!
  const faulty: readonly (readonly [Served, RegExp])[] = [
    [{ ...whole, status: 404 }, /the document does not exist: its status is 404/],
    [{ ...whole, status: 201 }, /must come with the status 200, not 201/],
    [
      { ...whole, status: 302, headers: { location: '/other.json' } },
      /must come with the status 200, not 302/,
    ],
    [{ ...whole, headers: { 'content-type': 'text/html' } }, /must have the type application\/json/],
    [{ ...whole, headers: { 'content-encoding': 'gzip' } }, /must not be compressed/],
    [{ body: Buffer.alloc(5_121, ' ') }, /must have at most 5120 bytes/],
    [
      { body: JSON.stringify({ client_id: `${url}?`, redirect_uris: [callback] }) },
      /client_id of the document must be the URL/,
    ],
  ]
  pages.set('/other.json', whole)
  for (const [served, rule] of faulty) {
    pages.set('/client.json', served)
    const response = await browser.get(pathOf(url, pkce().challenge))
    assert.equal(response.status, 400)
    assert.match(await response.text(), rule)
  }
  assert.deepEqual(asked, Array(faulty.length).fill('/client.json'))
  pages.set('/client.json', { ...whole, status: 503 })
  const unreachable = await browser.get(pathOf(url, pkce().challenge))
  assert.equal(unreachable.status, 503)
  publish({})
  assert.equal((await browser.get(pathOf(url, pkce().challenge))).status, 303)
})

test('only allowed hosts are asked, and no internal address', async t => {
  const { site, url, host, connections } = await start(t, { documents: { isAllowed: () => false } })
  const browser = new Browser(site.issuer)
  const reasonFor = async (id: string) => (await browser.get(pathOf(id, pkce().challenge))).text()
  assert.match(await reasonFor(url), /its address is not on the public Internet/)
  assert.match(await reasonFor('https://other.example/c'), /must be on a host that this server allows/)
  assert.match(await reasonFor(`https://${host}/a/../client.json`), /must not have dot segments/)
  assert.match(await reasonFor(`https://${host}/`), /must have a path/)
  assert.equal(connections(), 0)
})

test('a document that is removed ends consents, refresh tokens and access tokens', async t => {
  const { site, url, pages, browser, user } = await start(t)
  const { access_token, refresh_token } = await connect(site, browser, url)
  pages.delete('/client.json')
  assert.equal((await refresh(site, url, refresh_token)).status, 200, 'it is cached')
  await age(site, url)
  const refused = await refresh(site, url, refresh_token)
  assert.equal(refused.status, 400)
  assert.equal((await errorIn(refused)).error_description, 'the document does not exist: its status is 404')
  assert.equal(await site.store.oauthClients.get(everybody, documentIdOf(url)), null)
  assert.equal((await site.store.oauthGrants.ofUser(user.id, { offset: 0, limit: 9 })).total, 0)
  const response = await fetch(`${site.issuer}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${access_token}` },
  })
  assert.equal(response.status, 401)
})

test('a document that is broken or unreachable gives nothing, and ends nothing', async t => {
  const { site, url, publish, browser } = await start(t)
  const { access_token, refresh_token } = await connect(site, browser, url)
  await age(site, url)
  publish({ client_secret: 'x' })
  const refused = await refresh(site, url, refresh_token)
  assert.match((await errorIn(refused)).error_description, /client_secret of the document must be left out/)
  publish({}, { status: 500 })
  const later = await refresh(site, url, refresh_token)
  assert.deepEqual([later.status, later.headers.get('retry-after')], [503, '5'])
  assert.equal(await isActive(site, url, access_token), true)
  publish({})
  assert.equal((await refresh(site, url, refresh_token)).status, 200)
})

test('a changed document counts at once: another method of authentication ends all, a new redirect host asks again', async t => {
  const { site, url, publish, browser } = await start(t)
  const { refresh_token } = await connect(site, browser, url)
  await age(site, url)
  publish({ redirect_uris: ['https://other.example/callback'] })
  const { challenge } = pkce()
  assert.equal((await browser.get(pathOf(url, challenge))).status, 400)
  const asking = await browser.get(pathOf(url, challenge, { redirect_uri: 'https://other.example/callback' }))
  assert.match(asking.headers.get('location')!, /\/oauth2\/consent\//)
  await age(site, url)
  publish({ ...keyed(publicKey) })
  const refused = await refresh(site, url, refresh_token)
  assert.equal((await errorIn(refused)).error, 'invalid_client')
  assert.equal(await site.store.oauthClients.get(everybody, documentIdOf(url)), null)
})

test('an account admits such clients only if it says so, and closes itself to them again', async t => {
  const { site, url, browser, account } = await start(t)
  const wide = { scope: 'offline_access ai_gateway.run' }
  const { verifier, challenge } = pkce()
  await assert.rejects(authorize(site, browser, pathOf(url, challenge, wide)), /the page shows refused/)
  await site.store.accounts.update(account, { allowsDocumentClients: true })
  const back = await authorize(site, browser, pathOf(url, challenge, wide))
  const params = {
    grant_type: 'authorization_code',
    client_id: url,
    redirect_uri: callback,
    code_verifier: verifier,
  }
  const tokens = await tokensIn(
    await post(site, '/oauth2/token', { ...params, code: back.searchParams.get('code')! }),
  )
  const verify = () => site.verifier.verify(tokens.access_token, '127.0.0.1', 'ai')
  const token = await verify()
  assert.ok(typeof token === 'object')
  assert.deepEqual([token.actor?.clientUrl, token.actor?.clientName], [url, `localhost (Editor)`])
  await site.store.accounts.update(account, { allowsDocumentClients: false })
  assert.equal(typeof (await verify()), 'string')
  const refused = await refresh(site, url, tokens.refresh_token)
  assert.match((await errorIn(refused)).error_description, /the account allows only apps that are registered/)
})

test('a link leads to no app that only its document vouches for, except to the host of the document', async t => {
  const { site, url, browser } = await start(t)
  const faulty = pathOf(url, pkce().challenge, { scope: 'nonsense' })
  const kept = await browser.get(faulty)
  assert.deepEqual([kept.status, kept.headers.get('location')], [400, null])
  assert.match(await kept.text(), /localhost \(Editor\)/)
  const { site: other, ...rest } = await start(t)
  rest.publish({ redirect_uris: [`https://${rest.host}/callback`] })
  const sent = await new Browser(other.issuer).get(
    pathOf(rest.url, pkce().challenge, { scope: 'nonsense', redirect_uri: `https://${rest.host}/callback` }),
  )
  assert.match(
    sent.headers.get('location') ?? '',
    new RegExp(`^https://${rest.host}/callback\\?.*error=invalid_scope`),
  )
  assert.ok(site.bugs.length === 0)
})

test('a document without scopes lets its client ask for all, but not by saying nothing', async t => {
  const { url, browser } = await start(t)
  const { challenge } = pkce()
  const silent = await browser.get(pathOf(url, challenge, { scope: '' }))
  assert.match(await silent.text(), /scope is missing, and the document of the client names none either/)
  const { site: other, ...rest } = await start(t)
  rest.publish({ scope: 'openid user.read' })
  const back = await authorize(other, rest.browser, pathOf(rest.url, challenge, { scope: '' }))
  assert.ok(back.searchParams.has('code'))
  await assert.rejects(
    authorize(other, rest.browser, pathOf(rest.url, challenge, { scope: 'memberships.read' })),
    /400/,
  )
})

test('strangers store nothing, and there are bounds to what is stored and fetched for them', async t => {
  const { site, url, host, pages, browser } = await start(t, { documents: { maxClients: 1 } })
  await browser.get(pathOf(url, pkce().challenge))
  const stored = async () => (await site.store.oauthClients.list(everybody, { offset: 0, limit: 9 })).total
  assert.equal(await stored(), 0)
  await connect(site, browser, url)
  assert.equal(await stored(), 1)
  const second = `https://${host}/second.json`
  pages.set('/second.json', {
    body: JSON.stringify({ client_id: second, redirect_uris: [callback], grant_types }),
  })
  const back = await authorize(site, browser, pathOf(second, pkce().challenge))
  assert.equal(back.searchParams.get('error'), 'temporarily_unavailable')
  assert.equal(await stored(), 1)
  let response: Response
  for (let i = 0; i < 30; i++) response = await browser.get(pathOf(`https://${host}/${i}`, pkce().challenge))
  assert.equal(response!.status, 503)
  assert.match(await response!.text(), /too many documents were fetched for you/)
  // Nor does that keep out those who are known.
  assert.equal((await browser.get(pathOf(url, pkce().challenge))).status, 303)
})

test('the page that asks a person has the host of the document', async t => {
  const { site, url, browser } = await start(t)
  const location = (await browser.get(pathOf(url, pkce().challenge))).headers.get('location')!
  const step = await site.oauth.interactions.load(location.split('/').at(-1)!, browser.request)
  assert.ok(step.kind === 'consent')
  assert.equal(clientIdOf(step.client as OAuthClient), url)
})
