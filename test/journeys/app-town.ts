// A gateway with people in it, apps that ask them for consent in a real browser, and what apps do with the libraries that they are made with.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { completion } from '../help/ai.ts'
import { complaintsOf, launchBrowser, trusting } from '../help/browser.ts'
import { Authority } from '../help/certificates.ts'
import { main, type RunningGateway, spawnGateway, startGateway } from '../help/gateway.ts'
import { say, startProvider } from '../help/provider.ts'

const authority = new Authority()
const identity = authority.issue(['localhost'])

let browser: Browser
before(async () => {
  // The libraries of apps trust it, too.
  setDefaultCACertificates([...getCACertificates('default'), authority.certificate])
  browser = await launchBrowser(trusting(identity))
})
after(() => browser?.close())

export const password = 'correct horse battery'
const scope = 'openid offline_access ai_gateway.run ai_gateway.read'

/** What the API tells of an app. */
interface App {
  readonly client_id: string
  readonly client_secret?: string
}

export type Method = 'client_secret_basic' | 'client_secret_post' | 'none'

/** A gateway with people in it. */
class Town {
  gateway: RunningGateway
  readonly account: string
  readonly callback: string
  /** The URL of the authorization server. */
  readonly issuer: string
  /** Where people are when they have signed in, as a pattern. */
  readonly home: string
  readonly #token: string
  readonly #env: NodeJS.ProcessEnv
  readonly #t: TestContext

  constructor(
    t: TestContext,
    gateway: RunningGateway,
    first: { account: string; token: string },
    callback: string,
    { env = {}, edge, isSecure = false }: Place,
  ) {
    this.#t = t
    this.gateway = gateway
    this.account = first.account
    this.#token = first.token
    this.callback = callback
    this.issuer = edge === undefined ? gateway.admin : `${isSecure ? 'https' : 'http'}://${edge}`
    // The edge serves the dashboard on the host of the issuer where it is published there.
    this.home = edge === undefined || isSecure ? '**/dashboard/**' : '**/auth/account'
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
    await page.waitForURL(this.home)
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

export interface Place {
  readonly workers: number
  readonly env?: NodeJS.ProcessEnv
  /** The address of the edge, where people reach the pages by it. */
  readonly edge?: string
  /** Whether they do so over TLS, and the dashboard is there too; then the address is one of localhost. */
  readonly isSecure?: boolean
}

export async function settle(t: TestContext, place: Place, more = ''): Promise<Town> {
  const { workers, env = {}, edge, isSecure = false } = place
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const yaml = `
workers: ${workers}
store: { url: '\${STORE:-}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
${edge === undefined ? '' : `admin: 127.0.0.1:0\n${isSecure ? securely(edge) : `listen: ['${edge}']\noauth: { issuer: 'http://${edge}' }\n`}`}${more}`
  const gateway = await startGateway(t, yaml, { env })
  const first = await gateway.firstStart
  const town = new Town(t, gateway, first, await startApp(t), place)
  const page = await (await town.context()).newPage()
  await page.goto(first.setUp!)
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.waitForURL(town.home)
  return town
}

/** Has the edge serve the pages over TLS, on the port of `edge`, and others without on one of its own. */
function securely(edge: string): string {
  const { port } = new URL(`https://${edge}`)
  const pem = { certificate: identity.certificate, key: identity.key }
  return `listen: ['127.0.0.1:0', { address: '127.0.0.1:${port}', tls: true }]
tls: { certificates: [${JSON.stringify(pem)}] }
oauth: { issuer: 'https://${edge}' }
dashboard: { host: localhost }
`
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
export async function consent(
  context: BrowserContext,
  url: URL,
  name: string,
  decide = async (page: Page) => page.getByRole('button', { name: 'Allow' }).click(),
): Promise<URL> {
  const page = await context.newPage()
  const complaints = complaintsOf(page)
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

export const libraries: Libraries = {
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
