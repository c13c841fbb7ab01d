// An authorization server for tests: the real one on a real listener and store, with people who are signed in by a cookie that names them.

import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import type { Facts } from '../../src/admin/routes.ts'
import { AdminServer } from '../../src/admin/server.ts'
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/ids/id.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { createLogger } from '../../src/log/log.ts'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { PeopleMetrics } from '../../src/metrics/counters/people-metrics.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { type ClientSettings, newClient } from '../../src/oauth/clients/client.ts'
import { mintSecret } from '../../src/oauth/clients/secret.ts'
import type { ServerParts } from '../../src/oauth-server/endpoints/endpoint.ts'
import { AuthorizationServer } from '../../src/oauth-server/authorization-server.ts'
import { AccessTokens } from '../../src/oauth/grants/access-tokens.ts'
import type { RouteResources } from '../../src/oauth/grants/route-resources.ts'
import { areSuper, roles } from '../../src/permissions/roles.ts'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import { openStore } from '../../src/store/open.ts'
import { everybody, type User } from '../../src/store/records/people.ts'
import { createAccount } from '../../src/process/store/new-account.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { TokenTags } from '../../src/tokens/token-tags.ts'
import { TokenVerifier } from '../../src/tokens/verify.ts'
import { noRoutes } from '../help/route-resources.ts'

export const callback = 'https://app.example/callback'

const usualLifetimes = {
  code: 60_000,
  accessToken: 3_600_000,
  refreshToken: 30 * 86_400_000,
  refreshTokenMost: 180 * 86_400_000,
}

export interface Site {
  readonly issuer: string
  readonly oauth: AuthorizationServer
  readonly store: Store
  readonly keys: SecretKeys
  readonly verifier: TokenVerifier
  readonly metrics: PeopleMetrics
  /** The ids of users who have signed out everywhere. */
  readonly signedOut: Set<string>
  /** What was written to the log. */
  readonly lines: string[]
  /** What the listener was told of as bugs. */
  readonly bugs: unknown[]
}

interface SiteOptions {
  readonly url?: string
  readonly store?: Store
  readonly keys?: SecretKeys
  /** What it is reached by, where that is not the listener itself. */
  readonly issuer?: string
  readonly lifetimes?: Partial<typeof usualLifetimes>
  readonly routes?: RouteResources
  readonly documents?: Partial<Documents>
}

interface Documents extends NonNullable<ServerParts['documents']> {
  readonly hosts: readonly string[]
  readonly maxClients: number
}

/** Starts an authorization server; several may share a store. */
export async function startSite(t: TestContext, options: SiteOptions = {}): Promise<Site> {
  const { url = 'sqlite::memory:', lifetimes, keys = new SecretKeys(Buffer.alloc(32, 'key')) } = options
  const { hosts = [], maxClients = 1_000, ...documents } = options.documents ?? {}
  const store = options.store ?? (await openStore(url, { commandTimeout: 5_000 }))
  const signedOut = new Set<string>()
  const lines: string[] = []
  const bugs: unknown[] = []
  const metrics = new PeopleMetrics()
  const log = createLogger('debug', { write: line => void lines.push(line) })
  const limiter = new Limiter({ clock: systemClock, counters: store.counters, log })
  const access = new AccessTokens(store, resource => {
    if (options.routes?.at(resource)) return null
    return resource.endsWith('/client/v4') ? 'management' : 'ai'
  })
  const verifier = new TokenVerifier({ store, grace: 600_000, metrics: new AiMetrics(), access })
  const facts: Facts = { unready: () => null, metricsAccess: 'direct', metrics: async () => '' }
  const server = new AdminServer(facts, bug => bugs.push(bug))
  let issuer = ''
  const oauth = new AuthorizationServer({
    config: {
      issuer: null,
      lifetimes: { ...usualLifetimes, ...lifetimes },
      clientIdMetadataDocuments: { hosts, maxClients, allowNetworks: [] },
    },
    documents: documents,
    issuer: () => options.issuer ?? issuer,
    store,
    tags: new TokenTags(store),
    secrets: keys,
    limiter,
    metrics,
    log,
    personOf: async request => {
      const person = await personOf(request, store)
      return person !== null && signedOut.has(person.user) ? null : person
    },
    signOut: async (_, response) => void response.setHeader('set-cookie', 'person=; Max-Age=0'),
    verify: value => verifier.verify(value, '127.0.0.1', 'management'),
    routes: options.routes ?? noRoutes,
    apiOf: resource =>
      resource === `${issuer}/client/v4` ? 'management' : resource === 'https://ai.example/' ? 'ai' : null,
  })
  server.apps = [oauth]
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  issuer = `http://127.0.0.1:${port}`
  t.after(async () => {
    await server.close()
    await oauth.close()
    await limiter.close()
    if (options.store === undefined) await store.close()
  })
  return { issuer, oauth, store, keys, verifier, metrics, signedOut, lines, bugs }
}

async function personOf({ headers }: Pick<IncomingMessage, 'headers'>, store: Store) {
  const [, user, at] = /(?:^|; )person=([\da-f]+)\.(\d+|never)/.exec(headers.cookie ?? '') ?? []
  const kept = user === undefined ? null : await store.users.get(everybody, user)
  return kept && { user: user!, email: kept.record.email, signedInAt: at === 'never' ? null : Number(at) }
}

/** Makes an account. */
export async function makeAccount({ store }: Pick<Site, 'store'>, name = 'Shop'): Promise<string> {
  return (await createAccount(store, name, Date.now())).account.id
}

const superAdministrator = roles[0]!.id

/** Makes a user who is in an account with these roles, or in none. */
export async function makeUser(
  { store }: Pick<Site, 'store'>,
  account: string | null,
  ids: readonly string[] = [superAdministrator],
): Promise<User> {
  const now = Date.now()
  const user: User = {
    ...{
      account: everybody,
      id: newId(),
      email: `${newId()}@shop.example`,
      firstName: 'Ada',
      lastName: null,
    },
    ...{
      password: null,
      identity: null,
      totp: null,
      passwordChangedAt: null,
      createdAt: now,
      modifiedAt: now,
    },
  }
  await store.users.insert(user)
  if (account !== null)
    await store.members.insert({
      ...{ account, id: newId(), user: user.id, status: 'accepted', roles: ids, isSuper: areSuper(ids) },
      ...{ createdAt: now, modifiedAt: now },
    })
  return user
}

/** Registers a client; its secret is null where its method is `none`. */
export async function register(
  { store, keys }: Pick<Site, 'store' | 'keys'>,
  account: string,
  settings: Partial<OAuthClient> = {},
): Promise<{ client: OAuthClient; secret: string | null }> {
  const now = Date.now()
  const method = settings.tokenEndpointAuthMethod ?? 'client_secret_basic'
  const minted = method === 'none' ? null : mintSecret(keys, now)
  const parts = { secret: minted?.secret ?? null, verification: null, now }
  const usual: ClientSettings = {
    ...{ name: 'Cart', grantTypes: ['authorization_code', 'refresh_token'], responseTypes: ['code'] },
    ...{ tokenEndpointAuthMethod: method, redirectUris: [callback], postLogoutRedirectUris: [] },
    ...{ allowedCorsOrigins: [], optionalScopes: [], logoUri: null, policyUri: null, tosUri: null },
    ...{ clientUri: null, scopes: ['openid', 'offline_access', 'user.read', 'ai_gateway.run'] },
  }
  const client = { ...newClient(account, usual, parts), ...settings }
  await store.oauthClients.insert(client)
  return { client, secret: minted?.value ?? null }
}

/** A browser with cookies, that follows no redirect by itself. */
export class Browser {
  readonly #issuer: string
  readonly #jar = new Map<string, string>()

  constructor(issuer: string) {
    this.#issuer = issuer
  }

  /** Has somebody be signed in who proved at a time who they are; null where that is not known. */
  signIn({ id }: User, at: number | null = Date.now()): this {
    this.#jar.set('person', `${id}.${at ?? 'never'}`)
    return this
  }

  get cookie(): string {
    return Array.from(this.#jar, ([name, value]) => `${name}=${value}`).join('; ')
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const url = new URL(path, this.#issuer)
    const response = await fetch(url, { redirect: 'manual', headers: { cookie: this.cookie, ...headers } })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(cookie)) this.#jar.delete(name)
      else this.#jar.set(name, value)
    }
    return response
  }

  /** The request that a page of ours gets. */
  get request(): IncomingMessage {
    return { headers: { cookie: this.cookie } } as IncomingMessage
  }
}

/** Makes a PKCE pair. */
export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** Writes the path of an authorization request. */
export function authorizationPath(client: OAuthClient, more: Readonly<Record<string, string>> = {}): string {
  const params = { client_id: client.id, response_type: 'code', redirect_uri: callback, state: 's', ...more }
  return `/oauth2/auth?${new URLSearchParams(params)}`
}

/** Goes to where an authorization request ends, consenting to all that is asked; returns the response URL at the app. */
export async function authorize(
  { oauth, issuer }: Pick<Site, 'oauth' | 'issuer'>,
  browser: Browser,
  path: string,
  account: string | null = null,
): Promise<URL> {
  let response = await browser.get(path)
  for (let hops = 0; hops < 8; hops++) {
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${response.status} ${await response.text()}`)
    const url = new URL(location, issuer)
    if (url.origin !== issuer) return url
    const uid = /^\/oauth2\/consent\/(.+)$/.exec(url.pathname)?.[1]
    if (uid === undefined) {
      response = await browser.get(url.href)
      continue
    }
    const asking = await oauth.interactions.load(uid, browser.request)
    const finished =
      asking.kind === 'consent'
        ? await oauth.interactions.finish(uid, browser.request, {
            kind: 'allow',
            account: account ?? asking.accounts[0]?.id ?? null,
            optional: asking.scopes.filter(({ isOptional }) => isOptional).map(({ id }) => id),
          })
        : asking
    if (finished.kind !== 'resume') throw new Error(`the page shows ${finished.kind}`)
    response = await browser.get(finished.location)
  }
  throw new Error('too many redirects')
}

/** Asks the token endpoint. */
export function tokenRequest(
  { issuer }: Pick<Site, 'issuer'>,
  { client, secret }: { client: OAuthClient; secret: string | null },
  params: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const body = new URLSearchParams(params)
  const fields: Record<string, string> = { ...headers }
  if (client.tokenEndpointAuthMethod === 'client_secret_basic')
    fields.authorization = `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}`
  else body.set('client_id', client.id)
  if (client.tokenEndpointAuthMethod === 'client_secret_post') body.set('client_secret', secret!)
  return fetch(`${issuer}/oauth2/token`, { method: 'POST', headers: fields, body })
}
