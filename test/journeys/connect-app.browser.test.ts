// The way of an app to a person's consent: a colleague is invited, an app is registered, they connect in a real browser; the app gets tokens, uses, refreshes and
// loses them. With both client libraries, on either store, in one process and in several.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { completion } from '../help/ai.ts'
import { launchBrowser } from '../help/browser.ts'
import { freePort } from '../help/free-port.ts'
import { main, type RunningGateway, spawnGateway, startGateway } from '../help/gateway.ts'
import { say, startProvider } from '../help/provider.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

const password = 'correct horse battery'
const scope = 'openid offline_access ai_gateway.run ai_gateway.read'

/** What the API tells of an app. */
interface App {
  readonly client_id: string
  readonly client_secret?: string
}

type Method = 'client_secret_basic' | 'client_secret_post' | 'none'

/** A gateway with people in it. */
class Town {
  gateway: RunningGateway
  readonly account: string
  readonly callback: string
  /** The URL of the authorization server. */
  readonly issuer: string
  readonly #token: string
  readonly #env: NodeJS.ProcessEnv
  readonly #t: TestContext

  constructor(
    t: TestContext,
    gateway: RunningGateway,
    first: { account: string; token: string },
    callback: string,
    { env = {}, edge }: Place,
  ) {
    this.#t = t
    this.gateway = gateway
    this.account = first.account
    this.#token = first.token
    this.callback = callback
    this.issuer = edge === undefined ? gateway.admin : `http://${edge}`
    this.#env = env
  }

  async ask(method: string, path: string, body: unknown, token = this.#token) {
    const response = await fetch(`${this.gateway.admin}/client/v4/accounts/${this.account}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    const { result, errors } = (await response.json()) as any
    return { status: response.status, result, errors }
  }

  /** Invites somebody as what administers AI gateways, who accepts in a browser of their own. */
  async invite(email: string): Promise<BrowserContext> {
    const { result, errors } = await this.ask('POST', '/members', {
      email,
      roles: ['2df4e93eae8ce611a2f78624b7528737'],
    })
    assert.deepEqual(errors, [])
    const context = await this.context()
    const page = await context.newPage()
    await page.goto(result.invitation_url)
    await page.getByLabel('First name').fill('Grace')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Accept the invitation' }).click()
    await page.waitForURL('**/dashboard/**')
    return context
  }

  async register(name: string, method: Method): Promise<App> {
    const { result, errors } = await this.ask('POST', '/oauth_clients', {
      client_name: name,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [this.callback],
      scopes: scope.split(' '),
      optional_scopes: ['ai_gateway.read'],
      token_endpoint_auth_method: method,
    })
    assert.deepEqual(errors, [])
    return result
  }

  /** Calls a model as an app, and returns the status. */
  async chat(token: string): Promise<number> {
    const response = await fetch(
      `${this.gateway.edge}/client/v4/accounts/${this.account}/ai/v1/chat/completions`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'openai/gpt-4o-mini',
          messages: [{ role: 'user', content: 'Hello.' }],
        }),
      },
    )
    await response.text()
    return response.status
  }

  /** Kills the gateway as it stands, and starts another from what it left. */
  async killAndStart(): Promise<void> {
    this.gateway.signal('SIGKILL')
    await this.gateway.exited
    const { file } = this.gateway
    const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data'), ...this.#env }
    this.gateway = await spawnGateway(this.#t, [main, 'start', '--config', file], { env }, file)
  }

  /** Opens a browser without script, as none of the pages needs any. */
  async context(): Promise<BrowserContext> {
    const context = await browser.newContext({ javaScriptEnabled: false })
    this.#t.after(() => context.close())
    return context
  }
}

interface Place {
  readonly workers: number
  readonly env?: NodeJS.ProcessEnv
  /** The address of the edge, where people reach the pages by it. */
  readonly edge?: string
}

async function settle(t: TestContext, place: Place, more = ''): Promise<Town> {
  const { workers, env = {}, edge } = place
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const yaml = `
workers: ${workers}
store: { url: '\${STORE:-}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
${edge === undefined ? '' : `listen: ['${edge}']\nadmin: 127.0.0.1:0\noauth: { issuer: 'http://${edge}' }\n`}${more}`
  const gateway = await startGateway(t, yaml, { env })
  const first = await gateway.firstStart
  const town = new Town(t, gateway, first, await startApp(t), place)
  const page = await (await town.context()).newPage()
  await page.goto(first.setUp!)
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.waitForURL('**/dashboard/**')
  return town
}

/** Starts what is behind the redirect URI of an app. As many do, it redirects on, to another origin. */
async function startApp(t: TestContext): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    if (url!.startsWith('/callback') && headers.host?.startsWith('127.'))
      return void response.writeHead(302, { location: `http://localhost:${port}${url}` }).end()
    response.setHeader('content-type', 'text/html').end('<title>App</title><h1>Welcome to the app</h1>')
  })
  await new Promise<void>(resolve => server.listen(0, resolve))
  const { port } = server.address() as AddressInfo
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${port}/callback`
}

/** Consents in a browser, or what `decide` does there, and returns the URL at which the app is called back. */
async function consent(
  context: BrowserContext,
  url: URL,
  name: string,
  decide = async (page: Page) => page.getByRole('button', { name: 'Allow' }).click(),
): Promise<URL> {
  const page = await context.newPage()
  const complaints = watch(page)
  await page.goto(url.href)
  await page.getByRole('heading', { name: `${name} asks to act for you` }).waitFor()
  assert.equal(await page.getByRole('checkbox', { name: 'AI Gateway Read' }).isChecked(), true)
  await decide(page)
  await page.getByRole('heading', { name: 'Welcome to the app' }).waitFor()
  assert.deepEqual(complaints, [])
  const back = new URL(page.url())
  await page.close()
  return back
}

function watch(page: Page): readonly string[] {
  const complaints: string[] = []
  page.on('console', message => complaints.push(message.text()))
  page.on('pageerror', error => complaints.push(String(error)))
  return complaints
}

interface Tokens {
  readonly scope?: string | undefined
  readonly access_token: string
  readonly refresh_token?: string | undefined
}

/** What an app does with a library: where it sends a person, and what it makes of how they come back. */
interface Library {
  readonly url: URL
  exchange(back: URL): Promise<Tokens>
  refresh(token: string): Promise<Tokens>
  revoke(token: string): Promise<void>
}

type Libraries = Readonly<Record<string, (town: Town, app: App, method: Method) => Promise<Library>>>

const libraries: Libraries = {
  'openid-client': async ({ issuer, callback }, { client_id, client_secret }, method) => {
    const authentication = {
      client_secret_basic: () => openid.ClientSecretBasic(client_secret),
      client_secret_post: () => openid.ClientSecretPost(client_secret),
      none: () => openid.None(),
    }[method]()
    const config = await openid.discovery(new URL(issuer), client_id, undefined, authentication, {
      execute: [openid.allowInsecureRequests],
    })
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const expectedState = openid.randomState()
    const expectedNonce = openid.randomNonce()
    return {
      url: openid.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope,
        state: expectedState,
        nonce: expectedNonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      }),
      exchange: back => {
        const url = new URL(back.search, callback)
        return openid.authorizationCodeGrant(config, url, { pkceCodeVerifier, expectedState, expectedNonce })
      },
      refresh: token => openid.refreshTokenGrant(config, token),
      revoke: token => openid.tokenRevocation(config, token),
    }
  },
  oauth4webapi: async ({ issuer: url, callback }, { client_id, client_secret }, method) => {
    const insecure = { [oauth.allowInsecureRequests]: true }
    const issuer = new URL(url)
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
    const server = await oauth.processDiscoveryResponse(issuer, found)
    const client: oauth.Client = { client_id }
    const authentication = {
      client_secret_basic: () => oauth.ClientSecretBasic(client_secret!),
      client_secret_post: () => oauth.ClientSecretPost(client_secret!),
      none: () => oauth.None(),
    }[method]()
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const start = new URL(server.authorization_endpoint!)
    start.search = new URLSearchParams({
      client_id,
      redirect_uri: callback,
      response_type: 'code',
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString()
    return {
      url: start,
      exchange: async back => {
        const parameters = oauth.validateAuthResponse(server, client, back.searchParams, state)
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          parameters,
          callback,
          verifier,
          insecure,
        )
        return oauth.processAuthorizationCodeResponse(server, client, response)
      },
      refresh: async token => {
        const response = await oauth.refreshTokenGrantRequest(server, client, authentication, token, insecure)
        return oauth.processRefreshTokenResponse(server, client, response)
      },
      revoke: async token => {
        await oauth.processRevocationResponse(
          await oauth.revocationRequest(server, client, authentication, token, insecure),
        )
      },
    }
  },
}

const places: Readonly<
  Record<string, { workers: number; env: (t: TestContext) => Promise<NodeJS.ProcessEnv> }>
> = {
  'SQLite, one process': { workers: 0, env: async () => ({}) },
  'Redis, two workers': { workers: 2, env: async t => ({ STORE: (await startRedis(t)).url }) },
  'SQLite, two workers': { workers: 2, env: async () => ({}) },
  'Redis, one process': { workers: 0, env: async t => ({ STORE: (await startRedis(t)).url }) },
}

for (const [place, { workers, env }] of Object.entries(places))
  test(`${place}: apps of each kind are connected, used, refreshed and revoked`, async t => {
    const town = await settle(t, { workers, env: await env(t) })
    const colleague = await town.invite('grace@example.com')
    for (const [name, library] of Object.entries(libraries))
      for (const method of ['client_secret_basic', 'client_secret_post', 'none'] as const)
        await t.test(`${name}, ${method}`, async () => {
          const title = `${name} ${method}`
          const app = await town.register(title, method)
          const used = await library(town, app, method)
          const back = await consent(colleague, used.url, title)
          const tokens = await used.exchange(back)
          assert.match(tokens.access_token, /^svco_/)
          assert.equal(await town.chat(tokens.access_token), 200)
          const fresh = await used.refresh(tokens.refresh_token!)
          assert.notEqual(fresh.access_token, tokens.access_token)
          assert.equal(await town.chat(fresh.access_token), 200)
          await used.revoke(fresh.refresh_token!)
          await until(async () => (await town.chat(fresh.access_token)) === 401)
        })
  })

test('through the edge, a person denies, allows in part, is remembered, and disconnects the app', async t => {
  const town = await settle(t, { workers: 2, edge: `127.0.0.1:${await freePort()}` })
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
})

test('who is sent by an app signs in on the way, and again where the app asks for it', async t => {
  const town = await settle(t, { workers: 0 })
  await town.invite('grace@example.com')
  const app = await town.register('Tea Ledger', 'client_secret_basic')
  const begin = () => libraries['openid-client']!(town, app, 'client_secret_basic')
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
})

test('a private app is refused in words to who is no member, and the app is told', async t => {
  const town = await settle(t, { workers: 0 }, 'people: { sign_up: open }\n')
  const app = await town.register('Tea Ledger', 'client_secret_basic')
  const { url } = await libraries['openid-client']!(town, app, 'client_secret_basic')
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
})

test('an account that requires two steps is opened to apps only by who has them', async t => {
  const town = await settle(t, { workers: 0 })
  const colleague = await town.invite('grace@example.com')
  const app = await town.register('Tea Ledger', 'client_secret_basic')
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
})

for (const [place, env] of Object.entries({
  SQLite: async () => ({}),
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
    await assert.rejects(used.exchange(back), /invalid_grant|response/)
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

for (const [api, { at, path, method, body, scope }] of Object.entries(calls))
  test(`an app that knows nothing but a URL of the ${api} finds its way to a token for it`, async t => {
    const insecure = { [oauth.allowInsecureRequests]: true }
    const town = await settle(t, { workers: 0 })
    const colleague = await town.invite('grace@example.com')
    const { client_id } = await town.register('Tea Ledger', 'none')
    const client: oauth.Client = { client_id }
    const url = new URL(`${town.gateway[at]}/client/v4/accounts/${town.account}${path}`)
    const headers = new Headers({ 'content-type': 'application/json' })
    const call = (token: string) =>
      oauth.protectedResourceRequest(token, method, url, headers, body, insecure)

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
  })
