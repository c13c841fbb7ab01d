// What this server knows of a request while the library works on it.

import { AsyncLocalStorage } from 'node:async_hooks'
import { clientKey } from '../../net/address/client-key.ts'
import { everybody, type User } from '../../store/records/people.ts'
import type { ClientDirectory } from '../../oauth/clients/client-directory.ts'
import type { DocumentFault } from '../../oauth/clients/document-fault.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { Store } from '../../store/contract/store.ts'
import type { OidcError } from './library.ts'
import { TokenExchange } from './token-exchange.ts'

export interface Sender {
  readonly address: string | null
  readonly peer: string
  readonly ray: string
}

export interface Person {
  readonly user: string
  readonly email: string
  /** When they last proved who they are, in ms since the epoch; null if unknown. */
  readonly signedInAt: number | null
}

/** `shared`: other programs use the redirect URI. `host not seen`: the consent was for others. */
export type Confirmation = 'shared' | 'host not seen'

interface RequestParts {
  readonly sender: Sender
  readonly person: Person | null
  readonly personNow: () => Promise<Person | null>
  /** A `response_mode` that was sent and is not supported; it was removed from the request. */
  readonly refusedMode: string | null
}

export class OAuthRequest {
  readonly sender: Sender
  readonly person: Person | null
  readonly refusedMode: string | null
  readonly exchange = new TokenExchange()
  isAuthenticated = false
  /** Set if a consent covers the request but must be confirmed. */
  confirmation: Confirmation | null = null
  failure: OidcError | null = null
  readonly #personNow: RequestParts['personNow']
  #client: { readonly id: string; readonly found: Promise<OAuthClient | DocumentFault | null> } | null = null
  #user: { readonly id: string; readonly record: Promise<User | null> } | null = null

  constructor({ sender, person, personNow, refusedMode }: RequestParts) {
    this.sender = sender
    this.person = person
    this.refusedMode = refusedMode
    this.#personNow = personNow
  }

  /** By whom requests are counted: the person, or else the address. */
  get key(): string {
    return this.person?.user ?? clientKey(this.sender.address ?? this.sender.peer)
  }

  /** Whether the same person is still signed in; rejects with `StoreUnreachable`. */
  async isStillSignedIn(): Promise<boolean> {
    return (await this.#personNow())?.user === this.person?.user
  }

  /** Finds a client as it is now, once for repeated calls; rejects with `StoreUnreachable`. */
  findClient(id: string, clients: ClientDirectory): Promise<OAuthClient | DocumentFault | null> {
    if (this.#client?.id !== id) this.#client = { id, found: clients.current(id, this.key) }
    return this.#client.found
  }

  /** Finds a user, with one lookup for repeated calls; rejects with `StoreUnreachable`. */
  findUser(id: string, { users }: Store): Promise<User | null> {
    if (this.#user?.id !== id)
      this.#user = { id, record: users.get(everybody, id).then(user => user?.record ?? null) }
    return this.#user.record
  }
}

/** Carries a request of ours to the callbacks of the library, which passes on nothing but its own context. */
const requests = new AsyncLocalStorage<OAuthRequest>()

export function withRequest<T>(request: OAuthRequest, work: () => T): T {
  return requests.run(request, work)
}

export function currentRequest(): OAuthRequest {
  return requests.getStore()!
}
