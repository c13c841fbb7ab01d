// Proofs by passkey: of who it is, instead of the password and the code; of a second factor; and once more.

import { everybody, type Passkey, type User } from '../../store/records/people.ts'
import type { ProofFailure } from '../../store/records/records.ts'
import { type Assertion, readAssertion } from '../passkeys/ceremony-response.ts'
import { challengeTime, newChallenge } from '../passkeys/challenges.ts'
import { passkeysAt, type PasskeyUse, withUsedPasskey } from '../passkeys/passkeys.ts'
import type { RelyingParty } from '../passkeys/relying-party.ts'
import { verifyAssertion } from '../passkeys/verify.ts'
import type { ClientInfo } from '../records/client-info.ts'
import { digestOfValue } from '../records/secret-value.ts'
import { auditSignIn } from '../records/self-audit.ts'
import { changeUser } from '../records/users.ts'
import { hasApp } from '../second-factor/second-factor.ts'
import type { ProofAction } from './attempt-log.ts'
import type { Actor } from './own-account.ts'
import type { SignedIn, SignIn, SignInParts, TryLater } from './sign-in.ts'
import { findTicket } from './ticket.ts'

/** What a browser shows: the response of an authenticator, as JSON. */
export interface ShownPasskey {
  readonly response: string
  readonly at: RelyingParty
  /** The secret that the forms of the browser are bound to. */
  readonly browser: string
}

/** `expired`: the challenge, ticket or session is over. `old_counter`: the passkey may have been copied. */
type PasskeyResult = SignedIn | Throttled | { readonly outcome: 'refused' | 'expired' | 'old_counter' }

/** How a holder of a ticket can take the second step, besides with a recovery code. */
interface SecondSteps {
  readonly hasApp: boolean
  /** Those that sign for the host. */
  readonly passkeys: readonly Passkey[]
}

type Throttled = Extract<TryLater, { readonly outcome: 'throttled' }>

type Refused = { readonly outcome: 'refused' | 'expired' | 'old_counter' }

const toSignIn = 'sign in'
const toConfirm = 'confirm'
const toStep = (ticket: string) => `take the second step of ${digestOfValue(ticket)}`

export class PasskeySignIn {
  readonly #parts: SignInParts
  readonly #signIn: SignIn

  constructor(parts: SignInParts, signIn: SignIn) {
    this.#parts = parts
    this.#signIn = signIn
  }

  challengeToSignIn(browser: string): string {
    return this.#challenge(toSignIn, browser)
  }

  challengeToConfirm(browser: string): string {
    return this.#challenge(toConfirm, browser)
  }

  challengeToStep(ticket: string, browser: string): string {
    return this.#challenge(toStep(ticket), browser)
  }

  /** Null if the ticket is over. */
  async stepsOf(ticket: string, host: string | null): Promise<SecondSteps | null> {
    const user = (await findTicket(this.#parts.store, ticket))?.user
    if (user === undefined) return null
    return { hasApp: hasApp(user), passkeys: host === null ? [] : passkeysAt(user, host) }
  }

  /** Signs in whoever the authenticator says it is: it verified its user, so that both factors are proved. */
  async signIn(
    shown: ShownPasskey,
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<PasskeyResult> {
    const { store, sessions, throttle, clock } = this.#parts
    const assertion = readAssertion(shown.response)
    if (assertion === null) return { outcome: 'refused' }
    const challengedAt = this.#timeOf(assertion, toSignIn, shown)
    if (challengedAt === null) return { outcome: 'expired' }
    const attempt = await throttle.attemptFrom(client.address)
    if ('retryAfter' in attempt) return { outcome: 'throttled', retryAfter: attempt.retryAfter }
    const stored = assertion.user === null ? null : await store.users.get(everybody, assertion.user)
    if (stored === null) return { outcome: 'refused' }
    const used = await this.#use(stored.record, { assertion, challengedAt, at: shown.at })
    if ('outcome' in used) return this.#refuse(used, stored.record, 'sign_in', client)
    await attempt.forgive()
    const proof = { method: 'passkey', secondFactor: true, at: clock.now() } as const
    const begun = await sessions.begin(used, proof, client, replaced)
    await auditSignIn(store, used, client, clock.now(), { proof: { method: 'passkey' } })
    return { outcome: 'signed_in', user: used, ...begun }
  }

  /** Takes the second step of a ticket. */
  async withTicket(
    value: string,
    shown: ShownPasskey,
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<PasskeyResult> {
    const ticket = await findTicket(this.#parts.store, value)
    if (ticket === null) return { outcome: 'expired' }
    const used = await this.#proveOf(ticket.user, toStep(value), 'second_step', shown, client)
    if ('outcome' in used) return used
    return this.#signIn.finish(ticket, used, 'passkey', client, replaced)
  }

  /** Proves the user again before a risky action. */
  async confirm({ session, user }: Actor, shown: ShownPasskey, client: ClientInfo): Promise<PasskeyResult> {
    const { store, sessions, clock } = this.#parts
    const used = await this.#proveOf(user, toConfirm, 'confirm', shown, client)
    if ('outcome' in used) return used
    const renewed = await sessions.renew(session, clock.now())
    if (renewed === null) return { outcome: 'expired' }
    const deed = { action: 'confirm', proof: { method: 'passkey' } } as const
    await auditSignIn(store, used, client, clock.now(), deed)
    return { outcome: 'signed_in', user: used, ...renewed }
  }

  #challenge(purpose: string, browser: string): string {
    const { keys, clock } = this.#parts
    return newChallenge({ purpose, browser }, keys, clock.now())
  }

  #timeOf({ challenge }: Assertion, purpose: string, { browser }: ShownPasskey): number | null {
    const { keys, clock } = this.#parts
    return challengeTime(challenge, { purpose, browser }, keys, clock.now())
  }

  /** Lets a known user prove a passkey of theirs; returns the user as they are then. */
  async #proveOf(
    user: User,
    purpose: string,
    action: ProofAction,
    shown: ShownPasskey,
    client: ClientInfo,
  ): Promise<User | Throttled | Refused> {
    const { throttle, attempts } = this.#parts
    const assertion = readAssertion(shown.response)
    if (assertion === null) return { outcome: 'refused' }
    const challengedAt = this.#timeOf(assertion, purpose, shown)
    if (challengedAt === null) return { outcome: 'expired' }
    const attempt = await throttle.attempt(user.email, client.address)
    const tell = attempts.telling(user.email, client, { action, method: 'passkey' })
    if ('retryAfter' in attempt) return tell.throttled(attempt)
    const isOther = assertion.user !== null && assertion.user !== user.id
    const used = isOther
      ? ({ outcome: 'refused' } as const)
      : await this.#use(user, { assertion, challengedAt, at: shown.at })
    if ('outcome' in used) return this.#refuse(used, user, action, client)
    await attempt.forgive()
    return used
  }

  async #use(user: User, { assertion, challengedAt, at }: Use): Promise<User | Refused> {
    const { store, clock } = this.#parts
    const passkey = passkeysAt(user, at.host).find(({ id }) => id === assertion.id)
    const counter = passkey === undefined ? null : await verifyAssertion(assertion, passkey, at)
    if (counter === null) return { outcome: 'refused' }
    let use: PasskeyUse = 'gone'
    const used = await changeUser(store, user.id, before => {
      const after = withUsedPasskey(before, { id: assertion.id, counter, challengedAt }, clock.now())
      use = after.use
      return after.use === 'used' ? after.user : null
    })
    return used ?? { outcome: outcomes[use as PasskeyUse] }
  }

  #refuse(refused: Refused, { email }: User, action: ProofAction, client: ClientInfo): Refused {
    const failure = failures[refused.outcome]
    if (failure !== null) this.#parts.attempts.note(email, client, { action, method: 'passkey', failure })
    return refused
  }
}

interface Use {
  readonly assertion: Assertion
  /** When the challenge was made, in ms since the epoch. */
  readonly challengedAt: number
  readonly at: RelyingParty
}

const outcomes = {
  used: 'refused',
  gone: 'refused',
  replayed: 'expired',
  old_counter: 'old_counter',
} as const satisfies Record<PasskeyUse, Refused['outcome']>

const failures = {
  refused: 'wrong',
  expired: null,
  old_counter: 'old_counter',
} as const satisfies Record<Refused['outcome'], ProofFailure | null>
