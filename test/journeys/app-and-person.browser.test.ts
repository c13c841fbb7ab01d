// What a person meets whom an app sends: to consent, in all or in part, to sign in first, to be refused; and how an app finds its way, and a gateway comes back.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as oauth from 'oauth4webapi'
import type { BrowserContext } from 'playwright-core'
import { freePort } from '../help/free-port.ts'
import { readMetrics } from '../help/prometheus.ts'
import { startRedis } from '../help/redis.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'
import { consent, libraries, password, settle } from './app-town.ts'

test('over TLS and HTTP/2, a person denies, allows in part, is remembered, disconnects the app, and signs in to the dashboard', async t => {
  const town = await settle(t, {
    workers: thorough(2, 0),
    edge: `localhost:${await freePort()}`,
    isSecure: true,
  })
  const colleague = await town.invite('grace@example.com')
  const app = await town.register('Tea Ledger', 'client_secret_basic')
  const begin = () => libraries['openid-client']!(town, app, 'client_secret_basic')

  const denied = await begin()
  const refusal = await consent(colleague, denied.url, 'Tea Ledger', page =>
    page.getByRole('button', { name: 'Deny' }).click(),
  )
  assert.equal(refusal.searchParams.get('error'), 'access_denied')
  assert.equal(refusal.searchParams.get('iss'), town.issuer)

  const partly = await begin()
  const back = await consent(colleague, partly.url, 'Tea Ledger', async page => {
    await page.getByRole('checkbox', { name: 'AI Gateway Read' }).uncheck()
    await page.getByRole('button', { name: 'Allow' }).click()
  })
  const { access_token, scope: given } = await partly.exchange(back)
  assert.deepEqual(given!.split(' ').toSorted(), ['ai_gateway.run', 'offline_access', 'openid'])
  assert.equal(await town.chat(access_token), 200)

  const again = await begin()
  const page = await colleague.newPage()
  await page.goto(again.url.href)
  await page.getByRole('heading', { name: 'Welcome to the app' }).waitFor()
  const { access_token: second } = await again.exchange(new URL(page.url()))
  assert.equal(await town.chat(second), 200)

  await page.goto(`${town.issuer}/auth/account`)
  await page.getByRole('button', { name: 'Disconnect Tea Ledger' }).click()
  await page.getByText('The app was disconnected').waitFor()
  for (const token of [access_token, second]) await until(async () => (await town.chat(token)) === 401)

  const elsewhere = await town.context()
  const signIn = await elsewhere.newPage()
  await signIn.goto(`${town.issuer}/dashboard`)
  await signIn.getByLabel('Email').fill('grace@example.com')
  await signIn.getByLabel('Password').fill(password)
  await signIn.getByRole('button', { name: 'Sign in' }).click()
  await signIn.waitForURL(town.home)
  await signIn.getByRole('heading', { level: 1 }).waitFor()
  const cookies = [...(await colleague.cookies()), ...(await elsewhere.cookies())]
  assert.deepEqual(
    cookies.filter(({ secure, httpOnly, name }) => !secure || !httpOnly || !/^__(Host|Secure)-/.test(name)),
    [],
  )
  assert.equal(cookies.filter(({ name }) => name === '__Host-gatehouse').length, 2)
  const versions = readMetrics(await town.gateway.metrics()).samples
  assert.ok(versions.get('gatehouse_http_versions_total{version="2"}')! > 20)
})

test('a town where everybody may sign up', async t => {
  const town = await settle(t, { workers: 0 }, 'people: { sign_up: open }\n')
  const colleague = await town.invite('grace@example.com')
  const app = await town.register('Tea Ledger', 'client_secret_basic')
  const begin = () => libraries['openid-client']!(town, app, 'client_secret_basic')
  await t.test('who is sent by an app signs in on the way, and again where the app asks for it', () =>
    signsIn(town, begin),
  )
  await t.test('a private app is refused in words to who is no member, and the app is told', () =>
    isRefused(town, begin),
  )
  for (const [api, call] of Object.entries(calls))
    await t.test(`an app that knows nothing but a URL of the ${api} finds its way to a token for it`, () =>
      findsItsWay(town, colleague, call),
    )
  await t.test('an account that requires two steps is opened to apps only by who has them', () =>
    needsTwoSteps(town, colleague),
  )
})

type Begin = () => ReturnType<(typeof libraries)[string]>
type Town = Awaited<ReturnType<typeof settle>>

async function signsIn(town: Town, begin: Begin): Promise<void> {
  const page = await (await town.context()).newPage()
  const signIn = async () => {
    await page.getByText('to continue to Tea Ledger').waitFor()
    await page.getByLabel('Email').fill('grace@example.com')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  const first = await begin()
  await page.goto(first.url.href)
  await signIn()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('heading', { name: 'Welcome to the app' }).waitFor()
  assert.equal(await town.chat((await first.exchange(new URL(page.url()))).access_token), 200)

  const fresh = await begin()
  fresh.url.searchParams.set('prompt', 'login')
  await page.goto(fresh.url.href)
  await signIn()
  await page.getByRole('heading', { name: 'Welcome to the app' }).waitFor()
  assert.equal(await town.chat((await fresh.exchange(new URL(page.url()))).access_token), 200)
}

async function isRefused(town: Town, begin: Begin): Promise<void> {
  const { url } = await begin()
  const page = await (await town.context()).newPage()
  await page.goto(url.href)
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('Email').fill('eve@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'This app is private' }).waitFor()
  await page.getByRole('button', { name: 'Back to the app' }).click()
  await page.getByRole('heading', { name: 'Welcome to the app' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('error'), 'access_denied')
}

async function needsTwoSteps(town: Town, colleague: BrowserContext): Promise<void> {
  const app = await town.register('Coffee Ledger', 'client_secret_basic')
  const { errors } = await town.ask('PUT', '', {
    id: town.account,
    name: 'Example',
    type: 'standard',
    settings: { enforce_twofactor: true },
  })
  assert.deepEqual(errors, [])
  const { url } = await libraries['openid-client']!(town, app, 'client_secret_basic')
  const page = await colleague.newPage()
  await page.goto(url.href)
  await page.getByRole('heading', { name: 'Turn on two-step sign-in first' }).waitFor()
  await page.getByRole('link', { name: 'Your profile' }).click()
  await page.getByText('An account that you are a member of requires it.').waitFor()
}

for (const [place, env] of Object.entries({
  ...thorough({ SQLite: async () => ({}) }, {}),
  Redis: async (t: TestContext) => ({ STORE: (await startRedis(t, { aof: 'always' })).url }),
}))
  test(`${place}: a gateway that is killed after a consent knows it, and the code, when it is back`, async t => {
    const town = await settle(t, { workers: 0, env: await env(t), edge: `127.0.0.1:${await freePort()}` })
    const colleague = await town.invite('grace@example.com')
    const app = await town.register('Tea Ledger', 'client_secret_basic')
    const used = await libraries['openid-client']!(town, app, 'client_secret_basic')
    const back = await consent(colleague, used.url, 'Tea Ledger')
    await town.killAndStart()
    const { access_token } = await used.exchange(back)
    assert.equal(await town.chat(access_token), 200)
    await town.killAndStart()
    assert.equal(await town.chat(access_token), 200)
    const replayed = () =>
      used.exchange(back).then(
        () => null,
        ({ error }) => error,
      )
    // A busy store may not confirm at once that the family has ended: then the response is 503.
    await until(async () => (await replayed()) === 'invalid_grant')
    await until(async () => (await town.chat(access_token)) === 401)
    const page = await colleague.newPage()
    await page.goto(`${town.issuer}/auth/account`)
    await page.getByRole('button', { name: 'Disconnect Tea Ledger' }).waitFor()
  })

/** One call of each API: a path below that of the account, a method, a body and the scope that it takes. */
const calls = {
  'AI gateway': {
    at: 'edge',
    path: '/ai/v1/chat/completions',
    method: 'POST',
    body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }),
    scope: 'ai_gateway.run',
  },
  'management API': {
    at: 'admin',
    path: '/ai-gateway/gateways',
    method: 'GET',
    body: null,
    scope: 'ai_gateway.read',
  },
} as const

type Call = (typeof calls)[keyof typeof calls]

async function findsItsWay(town: Town, colleague: BrowserContext, { at, path, method, body, scope }: Call) {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const { client_id } = await town.register('Tea Ledger', 'none')
  const client: oauth.Client = { client_id }
  const url = new URL(`${town.gateway[at]}/client/v4/accounts/${town.account}${path}`)
  const headers = new Headers({ 'content-type': 'application/json' })
  const call = (token: string) => oauth.protectedResourceRequest(token, method, url, headers, body, insecure)

  const bare = await fetch(url, { method, headers, body })
  assert.equal(bare.status, 401)
  const failure = await call('none').catch((failure: unknown) => failure)
  assert.ok(failure instanceof oauth.WWWAuthenticateChallengeError)
  const [{ parameters }] = failure.cause as [oauth.WWWAuthenticateChallenge]
  const metadata = parameters['resource_metadata' as Lowercase<string>]!
  assert.ok(bare.headers.get('www-authenticate')?.includes(`resource_metadata="${metadata}"`))
  assert.deepEqual([parameters.error, parameters.scope], ['invalid_token', scope])

  const document = await fetch(metadata)
  const { resource } = (await document.clone().json()) as { resource: string }
  const known = await oauth.processResourceDiscoveryResponse(new URL(resource), document)
  const issuer = new URL(known.authorization_servers![0]!)
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const server = await oauth.processDiscoveryResponse(issuer, found)

  const verifier = oauth.generateRandomCodeVerifier()
  const start = new URL(server.authorization_endpoint!)
  start.search = new URLSearchParams({
    client_id,
    redirect_uri: town.callback,
    response_type: 'code',
    scope,
    resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  const page = await colleague.newPage()
  await page.goto(start.href)
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('heading', { name: 'Welcome to the app' }).waitFor()
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    oauth.validateAuthResponse(server, client, new URL(page.url()).searchParams),
    town.callback,
    verifier,
    insecure,
  )
  const { access_token } = await oauth.processAuthorizationCodeResponse(server, client, response)
  assert.equal((await call(access_token)).status, 200)
}
