// What is known of a request while the engine works on it: who sent it, whose browser it is, and what is to be written when it is done.

import type { IncomingMessage } from 'node:http'
import type { Credential } from '../../store/records/credential.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { everybody, type User } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import type { EngineFailure } from './reasons.ts'

/** Who sent a request. */
export interface Sender {
  readonly address: string | null
  readonly peer: string
  readonly ray: string
}

/** Who is signed in. */
export interface Person {
  /** The id of the user. */
  readonly user: string
  readonly email: string
  /** When they last proved who they are, in ms since the epoch; null where that is not known. */
  readonly signedInAt: number | null
}

/** `shared`: other programs can use the redirect URI. `host not seen`: the consent was given for redirects to other hosts. */
export type MustConfirm = 'shared' | 'host not seen'

export class RequestFacts {
  readonly sender: Sender
  /** Null where nobody is signed in. */
  readonly person: Person | null
  /** Tokens that are written together before the response goes out. */
  readonly issued: Credential[] = []
  /** The code or token that the app has sent, as it was kept. */
  shown: Credential | null = null
  /** The code or refresh token that they are issued for. */
  spent: Credential | null = null
  client: OAuthClient | null = null
  /** Whether the client has shown its secret. */
  isAuthenticated = false
  /** The user and the account of the grant that the request is about. */
  user: string | null = null
  account: string | null = null
  /** Why it failed, in more words than the engine has. */
  reason: string | null = null
  /** Whether a consent covers the request. */
  isGranted = false
  /** Why one does only once the person confirms it; null where it need not be. */
  mustConfirm: MustConfirm | null = null
  /** Whether the client has shown too many wrong secrets lately: nothing more is noted of those. */
  isThrottled = false
  /** What the engine threw. */
  failure: EngineFailure | null = null
  /** Where the code that is exchanged was sent to. */
  codeRedirectUri: string | null = null
  /** The parameters that were refused before the engine saw them, each with the reason. */
  refused: string | null = null

  #user: { readonly id: string; readonly found: Promise<User | null> } | null = null

  readonly #personNow: () => Promise<Person | null>

  /** `personNow` finds out who is signed in now. */
  constructor(sender: Sender, person: Person | null, personNow: () => Promise<Person | null>) {
    this.sender = sender
    this.person = person
    this.#personNow = personNow
  }

  /** Whether the person is signed in still; rejects with `StoreUnreachable`. */
  async isStillSignedIn(): Promise<boolean> {
    return (await this.#personNow())?.user === this.person?.user
  }

  /** Finds a user, and asks the store once for the same one; rejects with `StoreUnreachable`. */
  findUser(id: string, { users }: Store): Promise<User | null> {
    if (this.#user?.id !== id)
      this.#user = { id, found: users.get(everybody, id).then(kept => kept?.record ?? null) }
    return this.#user.found
  }
}

const known = new WeakMap<IncomingMessage, RequestFacts>()

export function noteFacts(request: IncomingMessage, facts: RequestFacts): void {
  known.set(request, facts)
}

/** Returns what was noted of a request. */
export function factsOf(request: IncomingMessage): RequestFacts {
  return known.get(request)!
}
