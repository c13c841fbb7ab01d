// The authorization server as the side port and the edge serve it: which request is for which endpoint.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SecretKeys } from '../base/secrets/secret-keys.ts'
import type { Config } from '../config/model/config.ts'
import type { Logger } from '../log/log.ts'
import { PeopleMetrics } from '../metrics/counters/people-metrics.ts'
import type { Api, Token } from '../store/records/records.ts'
import type { Json } from '../store/records/credential.ts'
import { type Store, StoreUnreachable } from '../store/contract/store.ts'
import type { Limiter } from '../limits/limiter.ts'
import { hasKnownPublisher } from '../oauth-clients/proven-host.ts'
import { SecretUses } from '../oauth-clients/secret-uses.ts'
import { AuthorizationLog } from '../oauth-grants/authorization-log.ts'
import { bearerOf } from '../tokens/bearer.ts'
import { digestOf } from '../tokens/token.ts'
import type { TokenTags } from '../tokens/token-tags.ts'
import { isFromOwnPage } from '../pages/forms/csrf.ts'
import type { PageResponse } from '../pages/parts/layout.ts'
import { ClientDirectory } from './client-directory.ts'
import { ClientSecrets } from './client-secrets.ts'
import { cookieNames, cookiesOf } from './cookies.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { Interactions } from './interactions.ts'
import { introspect } from './introspection.ts'
import { readLogout } from './logout.ts'
import { metadataOf } from './metadata.ts'
import { errorDocument, errorPage, logoutPage, signedOutPage } from './pages.ts'
import { documents, isOfOAuth, methods, paths } from './paths.ts'
import { noteFacts, type Person, RequestFacts, type Sender } from './engine/request-facts.ts'
import { settling, unavailableFor } from './settle.ts'
import { type KeySet, SigningKeys } from './signing-keys.ts'
import type { InteractionResult } from './engine/engine-types.ts'

interface OAuthFaceParts {
  readonly config: Config['oauth']
  /** Returns the URL of the side port, which is the issuer where none is set and it is on loopback. */
  readonly issuer: () => string
  readonly store: Store
  /** Makes the values of access tokens. */
  readonly tags: TokenTags
  readonly secrets: SecretKeys
  readonly limiter: Limiter
  readonly metrics?: PeopleMetrics
  readonly log: Logger
  /** Finds out who is signed in; may set cookies. */
  readonly personOf: (request: Pick<IncomingMessage, 'headers'>) => Promise<Person | null>
  /** Ends the session of the browser, and takes its cookie away. */
  readonly signOut: (
    request: IncomingMessage,
    response: ServerResponse,
    visit: { readonly address: string; readonly ray: string },
  ) => Promise<void>
  /** Verifies an API token; anything but a token is why it is not good. */
  readonly verify: (value: string, address: string | null) => Token | string | Promise<Token | string>
  /** Returns the API that a resource indicator names; null where that is none here. */
  readonly apiOf: (resource: string) => Api | null
}

/** The largest form that is read here, in bytes. */
const mostForm = 56 * 1024
/** The longest form that becomes a link, in bytes: it stands in one line of a head. */
const mostLink = 6 * 1024
const tooLarge = 'the body must have at most 56 KiB'

export class OAuthFace {
  readonly interactions: Interactions
  readonly #parts: OAuthFaceParts
  readonly #clients: ClientDirectory
  readonly #secrets: ClientSecrets
  readonly #uses: SecretUses
  readonly #keys: SigningKeys
  readonly #events: AuthorizationLog
  #engine: { readonly keys: string; readonly ready: Promise<Engine> } | null = null

  constructor(parts: OAuthFaceParts) {
    const { store, secrets, limiter, log, personOf, issuer, apiOf } = parts
    this.#parts = parts
    this.#clients = new ClientDirectory(store)
    this.#uses = new SecretUses({ store, log })
    this.#secrets = new ClientSecrets(secrets, this.#uses, limiter)
    this.#keys = new SigningKeys({ store, secrets, log })
    this.#events = new AuthorizationLog({ store, log })
    this.interactions = new Interactions({
      ...{ store, clients: this.#clients, personOf, issuer, apiOf },
      note: happening => this.#events.note(happening),
    })
  }

  takes(path: string): boolean {
    return isOfOAuth(path)
  }

  async serve(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void> {
    const [path = '', query = ''] = split(request.url!)
    const allowed = methods[path] ?? ['GET']
    const method = request.method === 'HEAD' ? 'GET' : request.method!
    if (!allowed.includes(method)) return refuseMethod(response, allowed)
    try {
      await this.#route(request, response, sender, { path, query, method })
    } catch (error) {
      if (!(error instanceof StoreUnreachable) || response.headersSent) throw error
      const description = 'the store of the server cannot be reached; try again'
      response.setHeader('retry-after', unavailableFor)
      sendJson(response, 503, this.#error('temporarily_unavailable', description))
    }
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    await this.#uses.close()
    await this.#events.close()
  }

  async #route(
    request: IncomingMessage,
    response: ServerResponse,
    sender: Sender,
    { path, query, method }: { path: string; query: string; method: string },
  ): Promise<void> {
    const document = documents.exec(path)
    if (document !== null) return this.#document(document[1] ?? null, request, response)
    switch (path) {
      case paths.openid:
      case paths.metadata:
        return this.#publish(metadataOf(this.#issuer, `${this.#issuer}${paths.errors}`), method, response)
      case paths.jwks:
        return this.#publish({ keys: (await this.#keys.current()).published }, method, response)
      case paths.endSession:
        return this.#signOut(request, response, query, sender)
      case paths.introspection: {
        const token = bearerOf(request.headers.authorization ?? null)
        if (token !== null) return this.#introspect(token, request, response, sender)
        break
      }
      case paths.authorization:
        // Browsers send no cookies with a form of another site: only once it is a link of ours, it is known who is signed in.
        if (method === 'POST') return this.#toLink(request, response)
    }
    return this.#toEngine(request, response, sender, { path, query })
  }

  async #toEngine(
    request: IncomingMessage,
    response: ServerResponse,
    sender: Sender,
    { path, query }: { path: string; query: string },
  ): Promise<void> {
    const isOfBrowser = path.startsWith(paths.authorization)
    // The headers of the request itself are changed for the engine.
    const sent = { headers: { ...request.headers } }
    const personNow = async () => (isOfBrowser ? this.#parts.personOf(sent) : null)
    const facts = new RequestFacts(sender, await personNow(), personNow)
    noteFacts(request, facts)
    if (path === paths.authorization) request.url = `${path}${await queryOf(query, facts, this.#clients)}`
    else if (isOfBrowser) {
      const uid = path.slice(paths.authorization.length + 1)
      await this.#checkClient(uid)
      await this.#checkSignIn(uid, facts)
      // What was checked is what the engine goes on with, whatever other cookies there are.
      const own = `${cookieNames(this.#issuer).resume}=${uid}`
      request.headers.cookie = cookiesOf(request).includes(own) ? own : ''
    }
    const { host, protocol } = new URL(this.#issuer)
    // The engine makes URLs of these.
    const { headers } = request
    headers.host = host
    headers['x-forwarded-proto'] = protocol.slice(0, -1)
    for (const name of ['x-forwarded-host', 'x-forwarded-for', 'x-forwarded-port']) delete headers[name]
    await this.#parts.tags.ready()
    const engine = await this.#openEngine(await this.#keys.current())
    await engine.callback()(request, response)
  }

  /** Ends an interaction whose client is gone, or has dropped the redirect URI since: nothing goes there any more, not even an error. */
  async #checkClient(uid: string): Promise<void> {
    if ((await this.interactions.clientOf(uid)) === null)
      await this.#parts.store.credentials.remove('interaction', digestOf(uid))
  }

  /** Takes back what an interaction knows of a sign-in where somebody else, or nobody, is signed in by now. */
  async #checkSignIn(uid: string, { person }: RequestFacts): Promise<void> {
    const { credentials } = this.#parts.store
    const kept = await credentials.get('interaction', digestOf(uid))
    const { result, ...data } = (kept?.data ?? {}) as { readonly [name: string]: Json }
    const user = (result as InteractionResult | undefined)?.login?.accountId
    if (kept === null || user === undefined || user === person?.user) return
    await credentials.put({ ...kept, data }, 'present')
  }

  #openEngine({ name, signing }: KeySet): Promise<Engine> {
    if (this.#engine?.keys === name) return this.#engine.ready
    const { config, store, tags, limiter, metrics = new PeopleMetrics(), apiOf, log } = this.#parts
    const ready = openEngine({
      issuer: this.#issuer,
      lifetimes: config.lifetimes,
      keys: signing,
      store,
      tags,
      clients: this.#clients,
      secrets: this.#secrets,
      limiter,
      apiOf,
      log,
      around: settling({
        store,
        errorUri: error => this.#errorUri(error),
        note: event => this.#events.note(event),
        metrics,
        showError: errorPage,
      }),
    })
    this.#engine = { keys: name, ready }
    // The next request tries again.
    ready.catch(() => {
      this.#engine = null
    })
    return ready
  }

  get #issuer(): string {
    return this.#parts.issuer()
  }

  #errorUri(error: string): string {
    return `${this.#issuer}${paths.errors}/${error}`
  }

  #document(error: string | null, request: IncomingMessage, response: ServerResponse): void {
    const shown = errorDocument(error, request.headers.accept ?? null)
    if (shown === null) return sendJson(response, 404, { error: 'not_found' })
    send(response, shown)
  }

  /** Answers with what is public, also to pages of other sites. */
  #publish(document: object, method: string, response: ServerResponse): void {
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('cross-origin-resource-policy', 'cross-origin')
    if (method === 'OPTIONS') {
      response.setHeader('access-control-allow-methods', 'GET')
      response.writeHead(204).end()
      return
    }
    response.setHeader('cache-control', 'public, max-age=300')
    sendJson(response, 200, document)
  }

  async #toLink(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = String((await readForm(request)) ?? '')
    if (form === '' || form.length > mostLink)
      return sendJson(
        response,
        413,
        this.#error('invalid_request', `the body must have 1 to ${mostLink} bytes`),
      )
    response.writeHead(303, { location: `${paths.authorization}?${form}` }).end()
  }

  async #introspect(
    token: string,
    request: IncomingMessage,
    response: ServerResponse,
    sender: Sender,
  ): Promise<void> {
    const caller = await this.#parts.verify(token, sender.address)
    if (caller === 'store_away') throw new StoreUnreachable()
    if (typeof caller === 'string') {
      response.setHeader('www-authenticate', 'Bearer error="invalid_token"')
      return sendJson(response, 401, this.#error('invalid_token', 'the API token is not valid'))
    }
    const form = await readForm(request)
    if (form === null) return sendJson(response, 413, this.#error('invalid_request', tooLarge))
    const value = form.getAll('token')
    if (value.length !== 1)
      return sendJson(response, 400, this.#error('invalid_request', 'token must be sent once'))
    const { store } = this.#parts
    const parts = { store, clients: this.#clients, issuer: this.#issuer }
    sendJson(response, 200, await introspect(value[0]!, caller, parts))
  }

  #error(error: string, description: string): object {
    return { error, error_description: description, error_uri: this.#errorUri(error) }
  }

  async #signOut(
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
    sender: Sender,
  ): Promise<void> {
    const form = request.method === 'POST' ? await readForm(request) : new URLSearchParams(query)
    if (form === null) return sendJson(response, 413, this.#error('invalid_request', tooLarge))
    const asked = await readLogout(form, {
      issuer: this.#issuer,
      clients: this.#clients,
      keys: (await this.#keys.current()).published,
    })
    if (asked.kind === 'fault') {
      const error = 'invalid_request'
      const { description } = asked
      const uri = this.#errorUri(error)
      return send(response, errorPage({ status: 400, error, description, uri, ray: sender.ray, app: null }))
    }
    const person = await this.#parts.personOf(request)
    // An app that shows whose session it is may end it; a link without that could come from anywhere.
    const isProven = asked.user !== null && asked.user === person?.user
    const isConfirmed = request.method === 'POST' && isFromOwnPage(request.headers, this.#issuer)
    if (person !== null && !isProven && !isConfirmed) return send(response, logoutPage(form, asked.client))
    const visit = { address: sender.address ?? sender.peer, ray: sender.ray }
    if (person !== null) await this.#parts.signOut(request, response, visit)
    if (asked.client !== null)
      this.#events.note({
        client: asked.client.id,
        clientAccount: asked.client.account,
        step: 'logout',
        result: 'success',
        error: null,
        reason: null,
        user: person?.user ?? null,
        account: null,
        ...visit,
        isUnproven: !isProven,
      })
    if (asked.location === null || isConfirmed) return send(response, signedOutPage(asked.location))
    // Nobody was signed in, and the link may come from anywhere.
    if (!isProven && !hasKnownPublisher(asked.client!))
      return send(response, signedOutPage(asked.location, false))
    response.writeHead(303, { location: asked.location }).end()
  }
}

function split(target: string): [path: string, query: string] {
  const end = target.indexOf('?')
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end + 1)]
}

/** What only OpenID Connect knows; in a request without `openid` it means nothing (RFC 6749 section 3.1). */
const ofOpenId = ['nonce', 'acr_values', 'claims_locales'] as const

/** Writes a query as the engine takes it: only one response mode decides how errors are sent, and a client that names no scopes asks for those that it has registered. */
async function queryOf(query: string, facts: RequestFacts, clients: ClientDirectory): Promise<string> {
  const params = new URLSearchParams(query)
  const modes = params.getAll('response_mode')
  facts.refused = modes.find(mode => mode !== 'query') ?? null
  params.delete('response_mode')
  const client = params.get('scope') ? null : await clients.find(params.get('client_id') ?? '')
  if (client !== null) params.set('scope', client.scopes.join(' '))
  const scopes = params.get('scope')?.split(' ') ?? []
  if (!scopes.includes('openid')) for (const name of ofOpenId) params.delete(name)
  return `?${params}`
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > mostForm) return null
    pieces.push(piece)
  }
  return new URLSearchParams(Buffer.concat(pieces).toString())
}

function refuseMethod(response: ServerResponse, allowed: readonly string[]): void {
  const allow = allowed.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  response.setHeader('allow', allow)
  sendJson(response, 405, { error: 'invalid_request', error_description: `the method must be ${allow}` })
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

function send(response: ServerResponse, { status, headers, body }: PageResponse): void {
  for (const [name, value] of headers) response.setHeader(name, value)
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
