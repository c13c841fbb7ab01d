// Sessions in browsers: 12 hours from the last use, and at most 7 days. The store has only digests.

import { minute } from '../../base/units.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Credential, CredentialKind } from '../../store/records/credential.ts'
import { everybody, type User } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import { factorSetAt } from '../second-factor/second-factor.ts'
import { digestOfValue, isValue, newValue } from '../records/secret-value.ts'
import type { ClientInfo } from '../records/client-info.ts'

export type SignInMethod = 'password' | 'passkey' | 'openid' | 'invitation'

export interface Session {
  /** SHA-256 of its value: identifies it to its owner, and opens nothing. */
  readonly id: string
  readonly user: string
  readonly method: SignInMethod
  readonly secondFactor: boolean
  /** When the user's password and second factor had been set, as known at the proof; null for none. */
  readonly passwordSetAt: number | null
  readonly factorSetAt: number | null
  /** When it began, and when it was last used, accurate to some minutes; ms since the epoch. */
  readonly createdAt: number
  readonly usedAt: number
  /** Here or to the OpenID provider, in ms since the epoch; null if the provider did not say. */
  readonly authenticatedAt: number | null
  readonly address: string
  readonly userAgent: string | null
  /** The account whose pages the user last saw; absent before the first. */
  readonly account?: string
}

interface Proof extends Pick<Session, 'method' | 'secondFactor'> {
  readonly at: number | null
}

export interface NewSession {
  readonly value: string
  readonly session: Session
}

const idle = 12 * 60 * minute
const longest = 7 * 24 * 60 * minute
/** How far the time of the last use may lag, in ms, so that not every request writes. */
export const useIsNotedAfter = 5 * minute
const freshness = 30 * minute
const longestUserAgent = 256
const maxSessions = 100

const openedBySessions = [
  'interaction',
  'oidc_session',
  'authorization_code',
  'access_token',
  'refresh_token',
  'site_code',
  'site_session',
] as const

export function isStale({ authenticatedAt }: Session, now: number): boolean {
  return authenticatedAt === null || now - authenticatedAt > freshness
}

/** Returns when a session ends however often it is used, in ms since the epoch. */
export function lastMomentOf({ createdAt }: Pick<Session, 'createdAt'>): number {
  return createdAt + longest
}

/** Returns when it ends unless it is used before, in ms since the epoch. */
export function endOf(session: Pick<Session, 'createdAt' | 'usedAt'>): number {
  return Math.min(lastMomentOf(session), session.usedAt + idle)
}

export class Sessions {
  readonly #store: Store
  readonly #clock: Clock

  constructor(store: Store, clock: Clock = systemClock) {
    this.#store = store
    this.#clock = clock
  }

  /** Begins a session after a proof; `replaced` is the browser's previous one, which ends. */
  async begin(
    user: User,
    { at, ...proof }: Proof,
    { address, userAgent }: ClientInfo,
    replaced: string | null = null,
  ): Promise<NewSession> {
    const now = this.#clock.now()
    const browser = { address, userAgent: userAgent?.slice(0, longestUserAgent) ?? null }
    const begun = await this.#put({
      user: user.id,
      ...proof,
      passwordSetAt: user.passwordChangedAt,
      factorSetAt: factorSetAt(user),
      createdAt: now,
      authenticatedAt: at,
      usedAt: now,
      ...browser,
    })
    if (replaced !== null) await this.end(replaced)
    await this.#endBeyond(user.id)
    return begun
  }

  /** Replaces the value after a new proof; null if the session has ended in between. */
  async renew({ id, ...session }: Session, at: number): Promise<NewSession | null> {
    const renewed = await this.#put({ ...session, authenticatedAt: at, usedAt: this.#clock.now() })
    await this.#passOnSites(id, renewed.session)
    if (await this.#store.credentials.remove('session', id)) return renewed
    await this.#store.credentials.remove('session', renewed.session.id)
    return null
  }

  async noteAccount(session: Session, account: string): Promise<void> {
    await this.#store.credentials.put(credentialOf({ ...session, account }), 'present')
  }

  /** Null also after a new password or second factor: the proof is then outdated. */
  async find(value: string): Promise<{ readonly session: Session; readonly user: User } | null> {
    return isValue(value) ? this.findById(digestOfValue(value)) : null
  }

  /** Counts as a use, unless `isUse` is false. */
  async findById(
    id: string,
    isUse = true,
  ): Promise<{ readonly session: Session; readonly user: User } | null> {
    const credential = await this.#store.credentials.get('session', id)
    if (credential === null || credential.user === null) return null
    const user = (await this.#store.users.get(everybody, credential.user))?.record ?? null
    const session = sessionOf(credential)
    if (user === null || !isOf(session, user)) return null
    // The clock has gone back so far that nobody knows whether it was idle too long.
    if (session.usedAt > this.#clock.now() + idle) return null
    return { session: isUse ? await this.#used(session) : session, user }
  }

  async list(user: string): Promise<readonly Session[]> {
    const credentials = await this.#store.credentials.list({ user }, 'session', maxSessions)
    return credentials.map(sessionOf).toSorted((a, b) => b.usedAt - a.usedAt)
  }

  async end(value: string): Promise<boolean> {
    return isValue(value) && this.#store.credentials.remove('session', digestOfValue(value))
  }
  /** False if the user has none with this id. */
  async endOne(user: string, id: string): Promise<boolean> {
    const credential = await this.#store.credentials.get('session', id)
    return credential?.user === user && this.#store.credentials.remove('session', id)
  }

  /** Ends sign-ins that wait for a code, too; returns the number of sessions. */
  async endAll(user: string): Promise<number> {
    return this.#end(user, [])
  }

  /** Ends sessions, codes and tokens, also of apps, but no consents. Returns the number of sessions. */
  async endEverything(user: string): Promise<number> {
    return this.#end(user, openedBySessions)
  }

  /** Removes first what becomes a session, last what sessions open; reports failures at the end. */
  async #end(user: string, opened: readonly CredentialKind[]): Promise<number> {
    const { credentials } = this.#store
    const counts: Promise<number>[] = []
    for (const kinds of [['sign_in'], ['session'], opened] as const) {
      if (kinds.length > 0) counts.push(credentials.removeOf({ user }, kinds))
      await Promise.allSettled(counts)
    }
    const [, sessions] = await Promise.all(counts)
    return sessions!
  }

  /** Sessions at sites go on while the person proves again who they are. */
  async #passOnSites(from: string, { id: grant }: Session): Promise<void> {
    const { credentials } = this.#store
    for (const site of await credentials.list({ grant: from }, 'site_session', maxSessions))
      await credentials.put({ ...site, grant }, 'present')
  }

  /** Ends those of a user beyond the maximum, starting with those that would have ended first. */
  async #endBeyond(user: string): Promise<void> {
    const credentials = await this.#store.credentials.list({ user }, 'session', maxSessions + 20)
    for (const { digest } of credentials.slice(maxSessions))
      await this.#store.credentials.remove('session', digest)
  }

  async #put(begun: Omit<Session, 'id'>): Promise<NewSession> {
    const { value, digest } = newValue()
    const session = { id: digest, ...begun }
    await this.#store.credentials.put(credentialOf(session))
    return { value, session }
  }

  async #used(session: Session): Promise<Session> {
    const now = this.#clock.now()
    const { usedAt, createdAt, authenticatedAt } = session
    if (Math.abs(now - usedAt) < useIsNotedAfter) return session
    const used = {
      ...{ ...session, usedAt: now },
      // With times that a clock set back has yet to reach, it would last longer.
      createdAt: Math.min(createdAt, now),
      authenticatedAt: authenticatedAt && Math.min(authenticatedAt, now),
    }
    await this.#store.credentials.put(credentialOf(used), 'present')
    return used
  }
}

/** Times are compared for equality alone: clocks differ, and a proof may take long. */
function isOf({ passwordSetAt, factorSetAt: shown }: Session, user: User): boolean {
  const factor = factorSetAt(user)
  return passwordSetAt === user.passwordChangedAt && (factor === null || factor === shown)
}

function credentialOf({ id, user, ...data }: Session): Credential {
  const { createdAt } = data
  const expiresAt = endOf(data)
  return {
    kind: 'session',
    digest: id,
    user,
    client: null,
    grant: null,
    data,
    createdAt,
    expiresAt,
    consumedAt: null,
  }
}

function sessionOf({ digest, user, data }: Credential): Session {
  return { id: digest, user: user!, ...(data as unknown as Omit<Session, 'id' | 'user'>) }
}
