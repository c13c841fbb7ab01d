// People add passkeys to their account, and remove them; both need a fresh proof of who they are.

import type { Passkey, User } from '../../store/records/people.ts'
import { readAttestation } from '../passkeys/ceremony-response.ts'
import { challengeTime, newChallenge } from '../passkeys/challenges.ts'
import { isSamePassword, maxPasskeys, passkeysAt, withoutPasskey, withPasskey } from '../passkeys/passkeys.ts'
import type { RelyingParty } from '../passkeys/relying-party.ts'
import { verifyAttestation } from '../passkeys/verify.ts'
import type { ClientInfo } from '../records/client-info.ts'
import { changeAudited } from '../records/self-audit.ts'
import { visibleName } from '../records/users.ts'
import { isStale, type NewSession } from '../sessions/sessions.ts'
import type { Actor } from './own-account.ts'
import type { ShownPasskey } from './passkey-sign-in.ts'
import type { SignInParts } from './sign-in.ts'

/** The user must prove again who they are. */
type Stale = { readonly outcome: 'stale' }

interface Beginning {
  readonly outcome: 'begun'
  readonly challenge: string
  /** Those that sign for the host already: their authenticators make no other. */
  readonly excluded: readonly Passkey[]
}

type BeginResult = Stale | Beginning | { readonly outcome: 'too_many' | 'no_password' }

type AddResult =
  | Stale
  | { readonly outcome: 'refused' | 'expired' | 'taken' }
  /** `begun` is there for the first second factor, with which every other session has ended. */
  | {
      readonly outcome: 'added'
      readonly recoveryCodes: readonly string[] | null
      readonly begun: NewSession | null
    }

const purpose = 'add a passkey'

export class OwnPasskeys {
  readonly #parts: SignInParts

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  /** `no_password`: whoever signs in only at a provider must not be able to sign in without it. */
  begin({ session, user }: Actor, { host }: RelyingParty, browser: string): BeginResult {
    const { keys, clock } = this.#parts
    if (user.password === null) return { outcome: 'no_password' }
    if (isStale(session, clock.now())) return { outcome: 'stale' }
    if ((user.passkeys?.keys.length ?? 0) >= maxPasskeys) return { outcome: 'too_many' }
    const challenge = newChallenge({ purpose, browser }, keys, clock.now())
    return { outcome: 'begun', challenge, excluded: passkeysAt(user, host) }
  }

  /** Adds a passkey under a name, else the fallback. */
  async add(
    { session, user }: Actor,
    {
      response,
      at,
      browser,
      name,
      fallback,
    }: ShownPasskey & { readonly name: string; readonly fallback: string },
    client: ClientInfo,
  ): Promise<AddResult> {
    const { store, keys, sessions, clock } = this.#parts
    const now = clock.now()
    if (isStale(session, now)) return { outcome: 'stale' }
    if (user.password === null) return { outcome: 'refused' }
    const attestation = readAttestation(response)
    if (attestation === null) return { outcome: 'refused' }
    const challengedAt = challengeTime(attestation.challenge, { purpose, browser }, keys, now)
    if (challengedAt === null) return { outcome: 'expired' }
    const key = await verifyAttestation(attestation, at)
    if (key === null) return { outcome: 'refused' }
    const { transports } = attestation
    const of = {
      host: at.host,
      transports,
      name: visibleName(name) || fallback,
      createdAt: now,
      usedAt: null,
    }
    let recoveryCodes: readonly string[] | null = null
    const add = (before: User) => {
      const after = isSamePassword(before, user) ? withPasskey(before, { ...key, ...of }, challengedAt) : null
      recoveryCodes = after?.recoveryCodes ?? null
      return after && { ...after.user, modifiedAt: now }
    }
    const isFirst = () => recoveryCodes !== null
    const deed = { action: 'update', changed: ['passkeys'], client, now } as const
    const endOthers = async () => isFirst() && sessions.endAll(user.id)
    const changed = await changeAudited(store, user, deed, add, endOthers)
    if (changed === null) return { outcome: 'taken' }
    const { method, authenticatedAt } = session
    const proof = { method, secondFactor: true, at: authenticatedAt }
    const begun = isFirst() ? await sessions.begin(changed, proof, client) : null
    return { outcome: 'added', recoveryCodes, begun }
  }

  /** Removes one by its id; the password is always left to sign in with. */
  async remove(
    { session, user }: Actor,
    id: string,
    client: ClientInfo,
  ): Promise<Stale | { readonly outcome: 'removed' | 'gone' }> {
    const now = this.#parts.clock.now()
    if (isStale(session, now)) return { outcome: 'stale' }
    const deed = { action: 'update', changed: ['passkeys'], client, now } as const
    const changed = await changeAudited(this.#parts.store, user, deed, before => {
      const after = withoutPasskey(before, id)
      return after && { ...after, modifiedAt: now }
    })
    return { outcome: changed === null ? 'gone' : 'removed' }
  }
}
