// Starts a real OpenID provider for a test, and walks a browser through it.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { OpenIdSettings } from '../../../src/people/openid/openid-provider.ts'

export const redirectUri = 'http://127.0.0.1:9/callback'

const script = fileURLToPath(new URL('openid-provider-process.ts', import.meta.url))

/** How it misbehaves, by subjects. */
export type Conduct = Readonly<
  Record<
    string,
    {
      /** How many seconds ago they signed in, even if they were to do so now. */
      readonly ago?: number
      /** What ID tokens claim instead; null for nothing. */
      readonly claims?: Readonly<Record<string, unknown>>
    }
  >
>

interface Registration {
  /** Where it sends people back; `redirectUri` by default. */
  readonly to?: string
  /** The only one that the provider offers. */
  readonly method?: 'client_secret_basic' | 'client_secret_post'
  /** Whether claims are in the userinfo response alone. */
  readonly conformIdTokenClaims?: boolean
}

export class RunningProvider {
  readonly settings: OpenIdSettings
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, settings: OpenIdSettings) {
    this.#child = child
    this.settings = settings
  }

  /** Starts one that ends with the test. */
  static async start(t: TestContext, registration?: Registration): Promise<RunningProvider> {
    const provider = await RunningProvider.launch(registration)
    t.after(() => provider.kill())
    return provider
  }

  /** Starts one that its caller kills. */
  static async launch({
    to = redirectUri,
    method = 'client_secret_basic',
    conformIdTokenClaims = false,
  }: Registration = {}): Promise<RunningProvider> {
    const child = fork(script, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    // It may wait for the client before it listens to messages; those before are kept.
    const client = { client_id: 'gatehouse', client_secret: 'a secret of the provider: /+%' }
    child.send({
      clients: [
        { ...client, redirect_uris: [to], token_endpoint_auth_method: method, require_auth_time: true },
      ],
      clientAuthMethods: [method],
      conformIdTokenClaims,
    })
    const [issuer] = (await once(child, 'message')) as [string]
    return new RunningProvider(child, {
      issuer,
      clientId: client.client_id,
      clientSecret: client.client_secret,
      tenants: null,
      groups: null,
    })
  }

  /** Tells it what is claimed of each person, by their subjects. */
  async knows(accounts: Readonly<Record<string, object>>, conduct: Conduct = {}): Promise<void> {
    const told = once(this.#child, 'message')
    this.#child.send({ accounts, conduct })
    await told
  }

  async kill(): Promise<void> {
    if (this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}

/** Follows redirects as a browser does, with its cookies, up to the redirect URI. */
export async function walk(start: string, to = redirectUri): Promise<URL> {
  const jar = new Map<string, string>()
  let url = new URL(start)
  for (let hop = 0; hop < 20; hop++) {
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    const text = await response.text()
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
      jar.set(name!, value!)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${response.status} at ${url.pathname}: ${text.slice(0, 500)}`)
    url = new URL(location, url)
    if (url.href.startsWith(to)) return url
  }
  throw new Error('there is no end to the redirects')
}
