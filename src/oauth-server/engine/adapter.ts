// The library's storage: codes, tokens and interactions are credentials, consents are grants.

import { type Clock, systemClock } from '../../base/clock.ts'
import { endDigestOf, endOf } from '../../oauth/grants/token-family.ts'
import type { Credential, CredentialKind, Json } from '../../store/records/credential.ts'
import type { Store } from '../../store/contract/store.ts'
import { digestOf, isWellFormed } from '../../tokens/token.ts'
import type { ClientDirectory } from '../../oauth/clients/client-directory.ts'
import type { DocumentFault } from '../../oauth/clients/document-fault.ts'
import { clientIdOf, isDocumentUrl, storedIdOf } from '../../oauth/clients/document-url.ts'
import { ineligibilityOf } from '../../oauth/grants/eligibility.ts'
import { type Guard, unavailable } from '../http/unavailable.ts'
import { grantPayload, readReference, writeReference } from './grant-payload.ts'
import type { Adapter, Context, Library, OidcError, Payload } from './library.ts'
import { metadataOf, recordOf } from './client-metadata.ts'
import { Reason } from './reasons.ts'
import { currentRequest, type OAuthRequest } from './request.ts'

interface AdapterParts {
  readonly store: Store
  readonly clients: ClientDirectory
  readonly context: () => Context
  readonly errors: Library['errors']
  /** Counts a request that is going to wait for a person; rejects with the error if there are too many. */
  readonly admit: (request: OAuthRequest) => Promise<void>
  readonly guard: Guard
  readonly clock?: Clock
}

export function adapters(parts: AdapterParts): (model: string) => Adapter {
  return model => guarded(adapterOf(model, parts), parts.guard)
}

function adapterOf(model: string, parts: AdapterParts): Adapter {
  switch (model) {
    case 'Interaction':
      return new InteractionAdapter('interaction', model, parts)
    case 'AuthorizationCode':
      return new CodeAdapter('authorization_code', model, parts)
    case 'AccessToken':
      return new TokenAdapter('access_token', model, parts)
    case 'RefreshToken':
      return new TokenAdapter('refresh_token', model, parts)
    case 'ReplayDetection':
      return new ReplayAdapter('client_assertion', model, parts)
    case 'Client':
      return new ClientAdapter(parts)
    case 'Grant':
      return new GrantAdapter(parts)
    default:
      return new NoAdapter(model)
  }
}

function guarded(adapter: Adapter, guard: Guard): Adapter {
  return {
    upsert: (id, payload, expiresIn) => guard(() => adapter.upsert(id, payload, expiresIn)),
    find: id => guard(() => adapter.find(id)),
    findByUid: uid => guard(() => adapter.findByUid(uid)),
    findByUserCode: code => guard(() => adapter.findByUserCode(code)),
    consume: id => guard(() => adapter.consume(id)),
    destroy: id => guard(() => adapter.destroy(id)),
    revokeByGrantId: id => guard(() => adapter.revokeByGrantId(id)),
  }
}

class NoAdapter implements Adapter {
  readonly model: string

  constructor(model: string) {
    this.model = model
  }

  async upsert(_id: string, _payload: Payload): Promise<void> {
    throw new TypeError(`${this.model} is not stored`)
  }

  async find(_id: string): Promise<Payload | undefined> {
    return undefined
  }

  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async consume(_id: string): Promise<void> {}
  async destroy(_id: string): Promise<void> {}
  async revokeByGrantId(_id: string): Promise<void> {}
}

const columns: ReadonlySet<string> = new Set([
  'jti',
  'kind',
  'iat',
  'exp',
  'accountId',
  'clientId',
  'grantId',
  'consumed',
  'sessionUid',
])

class CredentialAdapter extends NoAdapter {
  readonly kind: CredentialKind
  readonly parts: AdapterParts
  readonly clock: Clock

  constructor(kind: CredentialKind, model: string, parts: AdapterParts) {
    super(model)
    this.kind = kind
    this.parts = parts
    this.clock = parts.clock ?? systemClock
  }

  override async upsert(id: string, payload: Payload): Promise<void> {
    await this.parts.store.credentials.put(this.credentialOf(id, payload))
  }

  override async find(id: string): Promise<Payload | undefined> {
    const credential = await this.load(id)
    return credential === null ? undefined : this.#payloadOf(id, credential)
  }

  override async destroy(id: string): Promise<void> {
    await this.parts.store.credentials.remove(this.kind, digestOf(id))
  }

  async load(id: string): Promise<Credential | null> {
    return isPlausible(this.kind, id) ? this.parts.store.credentials.get(this.kind, digestOf(id)) : null
  }

  credentialOf(id: string, payload: Payload): Credential {
    const reference = readReference(payload.grantId)
    const data: Record<string, Json> = {}
    for (const [name, value] of Object.entries(payload))
      if (!columns.has(name) && value !== undefined) data[name] = value as Json
    if (reference !== null) Object.assign(data, { account: reference.account, family: reference.family })
    const { clientId = null } = payload
    if (clientId !== null && isDocumentUrl(clientId)) data.clientUrl = clientId
    return {
      kind: this.kind,
      digest: digestOf(id),
      user: payload.accountId ?? null,
      client: clientId === null ? null : storedIdOf(clientId),
      grant: reference?.grant ?? null,
      data,
      createdAt: this.clock.now(),
      expiresAt: (payload.exp ?? 0) * 1000,
      consumedAt: null,
    }
  }

  #payloadOf(id: string, credential: Credential): Payload {
    const { account: _, family: __, clientUrl, ...data } = credential.data as Record<string, Json>
    const { user, client, createdAt, expiresAt } = credential
    const reference = referenceOf(credential)
    return {
      ...data,
      jti: id,
      kind: this.model,
      iat: Math.floor(createdAt / 1000),
      exp: Math.floor(expiresAt / 1000),
      ...(user !== null && { accountId: user }),
      ...(client !== null && { clientId: typeof clientUrl === 'string' ? clientUrl : client }),
      ...(reference !== null && { grantId: reference }),
    }
  }
}

class InteractionAdapter extends CredentialAdapter {
  override async upsert(id: string, payload: Payload): Promise<void> {
    if (this.parts.context().oidc.route === 'authorization') await this.parts.admit(currentRequest())
    await super.upsert(id, payload)
  }
}

class PresentedAdapter extends CredentialAdapter {
  override async load(id: string): Promise<Credential | null> {
    const credential = await super.load(id)
    if (credential === null) return null
    // A used refresh token stays in the store so that another use of it is noticed.
    if (credential.consumedAt !== null && this.parts.context().oidc.route === 'introspection') return null
    currentRequest().exchange.presented = credential
    return credential
  }

  /** Writes nothing: the exchange consumes what was presented when it is committed. */
  override async consume(): Promise<void> {}
}

class CodeAdapter extends PresentedAdapter {
  override async upsert(id: string, payload: Payload): Promise<void> {
    await super.upsert(id, payload)
    // Signing out everywhere removes the codes that exist, and this one may have been stored after that.
    if (await currentRequest().isStillSignedIn()) return
    await this.destroy(id)
    throw new this.parts.errors.LoginRequired('the person signed out meanwhile')
  }
}

class TokenAdapter extends PresentedAdapter {
  /** Writes nothing: the exchange stores what was issued when it is committed. */
  override async upsert(id: string, payload: Payload): Promise<void> {
    currentRequest().exchange.issued.push(this.credentialOf(id, payload))
  }

  override async revokeByGrantId(id: string): Promise<void> {
    const reference = readReference(id)
    // The library calls it for each model.
    if (this.kind !== 'access_token' || reference === null) return
    const { grant, family } = reference
    const user = currentRequest().exchange.presented?.user ?? null
    const { client: caller } = this.parts.context().oidc
    const client = caller === undefined ? null : recordOf(caller).id
    await this.parts.store.credentials.endFamily(endOf(family, { user, client, grant }, this.clock.now()))
  }
}

/** Whether a value can be one of a kind, so that the store need not be asked about others. */
function isPlausible(kind: CredentialKind, id: string): boolean {
  if (kind === 'access_token') return isWellFormed(id, 'svco_')
  if (kind === 'refresh_token') return isWellFormed(id, 'svcr_')
  return /^[\w-]{21,64}$/.test(id)
}

function referenceOf({ grant, data }: Credential): string | null {
  const { account, family } = data as { readonly account?: unknown; readonly family?: unknown }
  if (grant === null || typeof account !== 'string' || typeof family !== 'string') return null
  return writeReference({ account, grant, family })
}

/** Each assertion by which a client authenticates itself works once (RFC 7523 section 3). */
class ReplayAdapter extends CredentialAdapter {
  override async find(): Promise<undefined> {}

  override async upsert(id: string, payload: Payload): Promise<void> {
    const { iss: clientId } = payload as { readonly iss?: string }
    const assertion = { ...this.credentialOf(id, { ...payload, clientId: clientId! }), data: null }
    const { credentials } = this.parts.store
    await credentials.put(assertion)
    const consumption = await credentials.consume(this.kind, assertion.digest, this.clock.now())
    if (consumption?.isFirst === true) return
    throw new this.parts.errors.InvalidClientAuth({
      cause: new Reason('the client_assertion was used before'),
    })
  }
}

/** Where what a client is now decides what it gets. */
const current: ReadonlySet<string> = new Set(['authorization', 'resume', 'token'])

class ClientAdapter extends NoAdapter {
  readonly #parts: AdapterParts

  constructor(parts: AdapterParts) {
    super('Client')
    this.#parts = parts
  }

  override async find(id: string): Promise<Payload | undefined> {
    const { clients, context } = this.#parts
    const isCurrent = current.has(context().oidc.route)
    const client = await (isCurrent ? currentRequest().findClient(id, clients) : clients.find(id))
    // A client is not known by the id under which it is stored.
    if (client === null || ('id' in client && clientIdOf(client) !== id)) return undefined
    if ('fault' in client) throw this.#errorOf(client)
    return metadataOf(client)
  }

  #errorOf({ fault, reason }: DocumentFault): OidcError {
    const { InvalidClient, TemporarilyUnavailable } = this.#parts.errors
    const isForNow = fault === 'unreachable' || fault === 'busy'
    const error = new (isForNow ? TemporarilyUnavailable : InvalidClient)(reason)
    if (isForNow) error.status = error.statusCode = unavailable.status
    error.cause = new Reason(reason)
    return error
  }
}

class GrantAdapter extends NoAdapter {
  readonly #parts: AdapterParts

  constructor(parts: AdapterParts) {
    super('Grant')
    this.#parts = parts
  }

  override async find(id: string): Promise<Payload | undefined> {
    const reference = readReference(id)
    if (reference === null) return undefined
    const { store, clients, context } = this.#parts
    const { route } = context().oidc
    const [grant, hasEnded] = await Promise.all([
      store.oauthGrants.get(reference.account, reference.grant),
      // At the token endpoint, the exchange itself finds out.
      route !== 'token' && store.credentials.hasEnded(endDigestOf(reference.family)),
    ])
    if (grant === null) return this.#refuse(route, 'the consent was withdrawn')
    if (hasEnded) return this.#refuse(route, 'it was revoked')
    const { record } = grant
    const client = await clients.find(record.client)
    if (client === null) return this.#refuse(route, 'the client was deleted')
    const request = currentRequest()
    const { user, account } = record
    const fault = await ineligibilityOf(store, { client, user, account }, id => request.findUser(id, store))
    if (fault !== null) return this.#refuse(route, fault)
    return grantPayload(record, client, { reference, resources: resourcesOf(request.exchange.presented) })
  }

  /** Refuses with a reason; introspection tells nothing but that the token is not active. */
  #refuse(route: string, reason: string): undefined {
    const { InvalidGrant, InvalidToken } = this.#parts.errors
    const cause = new Reason(reason)
    if (route === 'token') throw new InvalidGrant({ cause })
    if (route === 'userinfo') throw new InvalidToken({ cause })
  }
}

function resourcesOf(presented: Credential | null): readonly string[] {
  const { resource } = (presented?.data ?? {}) as { readonly resource?: string | readonly string[] }
  return [resource ?? []].flat()
}
