// What the engine keeps, in terms of the store: codes, tokens and interactions as credentials of which only digests are kept, consents as grants.

import { type Clock, systemClock } from '../../base/clock.ts'
import type { Credential, CredentialKind, Json } from '../../store/records/credential.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { digestOf, isWellFormed } from '../../tokens/token.ts'
import { endDigestOf, endOf } from '../../oauth-grants/family.ts'
import type { ClientDirectory } from '../client-directory.ts'
import { type GrantReference, readReference, writeReference } from './grant-reference.ts'
import { factsOf, type RequestFacts } from './request-facts.ts'
import { faultOfStanding } from '../standing.ts'
import type { Adapter, Context, Payload } from './engine-types.ts'

interface AdapterParts {
  readonly store: Store
  readonly clients: ClientDirectory
  /** Returns the request that the engine works on; undefined outside of one. */
  readonly context: () => Context | undefined
  /** Makes the error that refuses a code or token, for a reason. */
  readonly refusal: (reason: string) => Error
  /** Counts a request that is going to wait for a person; rejects with the error for one that is too many. */
  readonly admit: (facts: RequestFacts) => Promise<void>
  /** Makes the error for a person who has signed out meanwhile. */
  readonly signedOut: () => Error
  /** Makes the error for a store that cannot be reached. */
  readonly unavailable: () => Error
  readonly clock?: Clock
}

/** Makes the adapter of each model that the engine has. */
export function adapters(parts: AdapterParts): (model: string) => Adapter {
  return model => new GuardedAdapter(adapterOf(model, parts), parts.unavailable)
}

function adapterOf(model: string, parts: AdapterParts): Adapter {
  const kind = kinds[model]
  if (kind !== undefined) return new CredentialAdapter(model, kind, parts)
  if (model === 'Client') return new ClientAdapter(parts)
  return model === 'Grant' ? new GrantAdapter(parts) : new NoAdapter(model)
}

/** Has the engine report a store that cannot be reached in the words of OAuth. */
class GuardedAdapter implements Adapter {
  readonly #adapter: Adapter
  readonly #unavailable: () => Error

  constructor(adapter: Adapter, unavailable: () => Error) {
    this.#adapter = adapter
    this.#unavailable = unavailable
  }

  upsert = (id: string, payload: Payload, expiresIn: number) =>
    this.#guard(this.#adapter.upsert(id, payload, expiresIn))
  find = (id: string) => this.#guard(this.#adapter.find(id))
  findByUid = (uid: string) => this.#guard(this.#adapter.findByUid(uid))
  findByUserCode = (code: string) => this.#guard(this.#adapter.findByUserCode(code))
  consume = (id: string) => this.#guard(this.#adapter.consume(id))
  destroy = (id: string) => this.#guard(this.#adapter.destroy(id))
  revokeByGrantId = (id: string) => this.#guard(this.#adapter.revokeByGrantId(id))

  async #guard<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw error instanceof StoreUnreachable ? this.#unavailable() : error
    }
  }
}

const kinds: Readonly<Record<string, CredentialKind>> = {
  Interaction: 'interaction',
  AuthorizationCode: 'authorization_code',
  AccessToken: 'access_token',
  RefreshToken: 'refresh_token',
}

/** Fields of a payload that are members of a credential, or follow from them. */
const elsewhere: ReadonlySet<string> = new Set([
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

/** Finds nothing and keeps nothing. */
class NoAdapter implements Adapter {
  readonly model: string

  constructor(model: string) {
    this.model = model
  }

  async upsert(_id: string, _payload: Payload, _expiresIn: number): Promise<void> {
    throw new TypeError(`${this.model} is not kept`)
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

class CredentialAdapter extends NoAdapter {
  readonly #kind: CredentialKind
  readonly #parts: AdapterParts
  readonly #clock: Clock

  constructor(model: string, kind: CredentialKind, parts: AdapterParts) {
    super(model)
    this.#kind = kind
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
  }

  override async upsert(id: string, payload: Payload): Promise<void> {
    const credential = this.#credentialOf(id, payload)
    const context = this.#parts.context()
    if (this.#kind === 'interaction' && context?.oidc.route === 'authorization')
      await this.#parts.admit(factsOf(context.req))
    if (context?.oidc.route === 'token') factsOf(context.req).issued.push(credential)
    else await this.#parts.store.credentials.put(credential)
    if (this.#kind !== 'authorization_code' || context === undefined) return
    // Who signs out everywhere removes the codes that there are, and this one may have come after that.
    if (await factsOf(context.req).isStillSignedIn()) return
    await this.destroy(id)
    throw this.#parts.signedOut()
  }

  override async find(id: string): Promise<Payload | undefined> {
    if (!this.#isLikely(id)) return undefined
    const credential = await this.#parts.store.credentials.get(this.#kind, digestOf(id))
    if (credential === null) return undefined
    const context = this.#parts.context()
    // A used refresh token is still there so that its next use is noticed.
    if (context?.oidc.route === 'introspection' && credential.consumedAt !== null) return undefined
    if (context !== undefined && this.#kind !== 'interaction') factsOf(context.req).shown = credential
    return this.#payloadOf(id, credential)
  }

  /** Notes what is to be consumed: that is done in one step with the writing of what is issued for it. */
  override async consume(id: string): Promise<void> {
    const facts = factsOf(this.#parts.context()!.req)
    if (facts.shown?.digest !== digestOf(id)) throw this.#parts.refusal('not found')
    facts.spent = facts.shown
  }

  override async destroy(id: string): Promise<void> {
    await this.#parts.store.credentials.remove(this.#kind, digestOf(id))
  }

  override async revokeByGrantId(id: string): Promise<void> {
    const reference = readReference(id)
    // It is called for each kind.
    if (this.#kind !== 'access_token' || reference === null) return
    const { shown, client } = factsOf(this.#parts.context()!.req)
    const { grant, family } = reference
    const owners = { user: shown?.user ?? null, client: client?.id ?? null, grant }
    await this.#parts.store.credentials.endFamily(endOf(family, owners, this.#clock.now()))
  }

  #noteOwners({ user, data }: Credential): void {
    const facts = factsOf(this.#parts.context()!.req)
    facts.user ??= user
    facts.account ??= (data as { readonly account: string }).account
  }

  #isLikely(id: string): boolean {
    if (this.#kind === 'access_token') return isWellFormed(id, 'svco_')
    if (this.#kind === 'refresh_token') return isWellFormed(id, 'svcr_')
    return /^[\w-]{21,64}$/.test(id)
  }

  #credentialOf(id: string, payload: Payload): Credential {
    const reference = readReference(payload.grantId)
    const data: Record<string, Json> = {}
    for (const [name, value] of Object.entries(payload))
      if (!elsewhere.has(name) && value !== undefined) data[name] = value as Json
    if (reference !== null) Object.assign(data, { account: reference.account, family: reference.family })
    return {
      kind: this.#kind,
      digest: digestOf(id),
      user: payload.accountId ?? null,
      client: payload.clientId ?? null,
      grant: reference?.grant ?? null,
      data,
      createdAt: this.#clock.now(),
      expiresAt: (payload.exp ?? 0) * 1000,
      consumedAt: null,
    }
  }

  #payloadOf(id: string, credential: Credential): Payload {
    const { account: _, family: __, ...data } = credential.data as Record<string, Json>
    const context = this.#parts.context()
    if (context !== undefined && typeof data.redirectUri === 'string')
      factsOf(context.req).codeRedirectUri = data.redirectUri
    const payload: Payload = {
      ...data,
      jti: id,
      kind: this.model,
      iat: Math.floor(credential.createdAt / 1000),
      exp: Math.floor(credential.expiresAt / 1000),
    }
    if (credential.user !== null) payload.accountId = credential.user
    if (credential.client !== null) payload.clientId = credential.client
    const reference = referenceOf(credential)
    if (reference !== null) payload.grantId = reference
    // Another client's code tells this one nothing of whom it was for.
    const isOwn = context !== undefined && factsOf(context.req).client?.id === credential.client
    if (isOwn && reference !== null) this.#noteOwners(credential)
    return payload
  }
}

/** Names the grant of a credential as the engine does; null where it has none. */
function referenceOf({ grant, data }: Credential): string | null {
  const { account, family } = data as { readonly account?: unknown; readonly family?: unknown }
  if (grant === null || typeof account !== 'string' || typeof family !== 'string') return null
  return writeReference({ account, grant, family })
}

/** What the engine has of a client beside its own metadata. */
export interface Registered {
  readonly account: string
  readonly redirectUris: readonly string[]
  readonly allowedCorsOrigins: readonly string[]
  readonly scopes: readonly string[]
  readonly optionalScopes: readonly string[]
}

class ClientAdapter extends NoAdapter {
  readonly #parts: AdapterParts

  constructor(parts: AdapterParts) {
    super('Client')
    this.#parts = parts
  }

  override async find(id: string): Promise<Payload | undefined> {
    const client = await this.#parts.clients.find(id)
    if (client === null) return undefined
    const context = this.#parts.context()
    if (context !== undefined) factsOf(context.req).client = client
    return metadataOf(client)
  }
}

/** The rules for redirect URIs and secrets are ours, not the engine's: it gets values that it accepts and never compares. */
function metadataOf(client: OAuthClient): Payload {
  const { account, redirectUris, allowedCorsOrigins, scopes, optionalScopes } = client
  const registered: Registered = { account, redirectUris, allowedCorsOrigins, scopes, optionalScopes }
  const hasSecret = client.tokenEndpointAuthMethod !== 'none'
  return {
    client_id: client.id,
    ...(hasSecret ? { client_secret: 'compared elsewhere' } : {}),
    token_endpoint_auth_method: client.tokenEndpointAuthMethod,
    grant_types: [...client.grantTypes],
    response_types: ['code'],
    redirect_uris: ['https://compared.elsewhere.invalid/'],
    registered,
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
    const { store, clients } = this.#parts
    const [kept, hasEnded] = await Promise.all([
      store.oauthGrants.get(reference.account, reference.grant),
      // The exchange itself finds out.
      this.#parts.context()?.oidc.route !== 'token' &&
        store.credentials.hasEnded(endDigestOf(reference.family)),
    ])
    if (kept === null) return this.#refuse('the consent was withdrawn')
    if (hasEnded) return this.#refuse('it was revoked')
    const grant = kept.record
    const client = await clients.find(grant.client)
    if (client === null) return this.#refuse('the client was deleted')
    const { user, account } = grant
    this.#noteOwners(user, account)
    const context = this.#parts.context()
    const facts = context && factsOf(context.req)
    const fault = await faultOfStanding(
      store,
      { client, user, account },
      facts && (id => facts.findUser(id, store)),
    )
    return fault === null ? grantPayload(grant, client, reference) : this.#refuse(fault)
  }

  #refuse(reason: string): undefined {
    const context = this.#parts.context()
    if (context !== undefined) factsOf(context.req).reason = reason
  }

  #noteOwners(user: string, account: string): void {
    const context = this.#parts.context()
    if (context === undefined) return
    const facts = factsOf(context.req)
    facts.user = user
    facts.account = account
  }
}

/** Writes a consent as the engine reads it: as far as the client still has the scopes. */
export function grantPayload(grant: OAuthGrant, client: OAuthClient, reference: GrantReference): Payload {
  const scope = grant.scopes.filter(scope => client.scopes.includes(scope)).join(' ')
  const now = Math.floor(Date.now() / 1000)
  return {
    jti: writeReference(reference),
    kind: 'Grant',
    iat: now,
    exp: now + 3_600,
    accountId: grant.user,
    clientId: grant.client,
    openid: { scope },
  }
}
