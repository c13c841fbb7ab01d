// Sessions at the sites behind gates, each of one browser at one host. They come of a session at our own
// pages, which has proved who it is, and end with it. The store has only digests.

import { hash } from 'node:crypto'
import { second } from '../../base/units.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Credential } from '../../store/records/credential.ts'
import type { User } from '../../store/records/people.ts'
import type { Membership } from '../../store/records/records.ts'
import { digestOfValue, isTaggedValue, isValue, newValue } from '../records/secret-value.ts'
import { membershipsOf } from './memberships.ts'
import { endOf, lastMomentOf, type Session, Sessions } from './sessions.ts'

/** Marks the values of sessions, so that made-up ones cost no query. */
export interface ValueTags {
  /** Rejects with `StoreUnreachable`. */
  tagged(value: string): Promise<string>
  /** True also if that cannot be told now. */
  mayBeTagged(value: string): boolean
}

export interface SiteSession {
  readonly digest: string
  /** In lower case, without a port. */
  readonly host: string
  /** The session at our pages. */
  readonly parent: Session
  readonly user: User
  readonly memberships: readonly Membership[]
  /** When it ends if it is not used meanwhile, in ms since the epoch. */
  readonly endsAt: number
}

/** What the browser brings and what the site has of it (RFC 7636, S256). */
interface Request {
  /** The origin of the site: scheme, host and port. */
  readonly site: string
  readonly challenge: string
}

/** A browser follows two redirects meanwhile. */
const codeLife = 60 * second
const maxSessions = 100

export class SiteSessions {
  readonly #store: Store
  readonly #sessions: Sessions
  readonly #tags: ValueTags
  readonly #clock: Clock

  constructor(store: Store, tags: ValueTags, clock: Clock = systemClock) {
    this.#store = store
    this.#tags = tags
    this.#sessions = new Sessions(store, clock)
    this.#clock = clock
  }

  /** Returns a code that one browser can exchange once, at this site, within a minute. */
  async issueCode({ id, user }: Pick<Session, 'id' | 'user'>, request: Request): Promise<string> {
    const { value, digest } = newValue()
    const now = this.#clock.now()
    const owners = { user, client: null, grant: id }
    const times = { createdAt: now, expiresAt: now + codeLife, consumedAt: null }
    await this.#store.credentials.put({
      kind: 'site_code',
      digest,
      ...owners,
      ...times,
      data: { ...request },
    })
    return value
  }

  /** Begins a session and returns its value; null for a code that is not for this browser, or spent. */
  async begin(code: string, site: string, verifier: string): Promise<string | null> {
    const consumed = isValue(code) ? await this.#consume(digestOfValue(code)) : null
    if (consumed === null) return null
    const { user, grant, data, createdAt } = consumed
    // It may have been issued before the clock was set back.
    if (createdAt > this.#clock.now() + codeLife) return null
    const asked = data as unknown as Request
    if (asked.site !== site || asked.challenge !== challengeOf(verifier)) return null
    const parent = await this.#sessions.findById(grant!)
    if (parent === null || parent.user.id !== user) return null
    const value = await this.#tags.tagged(newValue().value)
    await this.#store.credentials.put({
      ...{ kind: 'site_session', digest: digestOfValue(value), user, client: null, grant, consumedAt: null },
      ...{
        createdAt: this.#clock.now(),
        expiresAt: lastMomentOf(parent.session),
        data: { host: hostOf(site) },
      },
    })
    await this.#endBeyond(user)
    return value
  }

  /** Whether there may be a session of this value: what is not ours is recognized without a query. */
  mayExist(value: string): boolean {
    return isTaggedValue(value) && this.#tags.mayBeTagged(value)
  }

  /** Counts as a use of the session at our pages, unless `isUse` is false. */
  async find(digest: string, isUse = true): Promise<SiteSession | null> {
    const credential = await this.#store.credentials.get('site_session', digest)
    if (credential === null) return null
    const parent = await this.#sessions.findById(credential.grant!, isUse)
    if (parent === null || parent.user.id !== credential.user) return null
    const { session, user } = parent
    return {
      ...{ digest, host: (credential.data as { host: string }).host },
      ...{ parent: session, user, memberships: await membershipsOf(this.#store, user) },
      endsAt: endOf(session),
    }
  }

  async end(value: string): Promise<boolean> {
    return this.mayExist(value) && this.#store.credentials.remove('site_session', digestOfValue(value))
  }

  async #consume(digest: string): Promise<Credential | null> {
    // Codes that somebody invents cost no write.
    if ((await this.#store.credentials.get('site_code', digest)) === null) return null
    const consumption = await this.#store.credentials.consume('site_code', digest, this.#clock.now())
    return consumption?.isFirst ? consumption.credential : null
  }

  /** Ends those of a person beyond the maximum, starting with those that would have ended first. */
  async #endBeyond(user: string): Promise<void> {
    const { credentials } = this.#store
    const all = await credentials.list({ user }, 'site_session', maxSessions + 20)
    for (const { digest } of all.slice(maxSessions)) await credentials.remove('site_session', digest)
  }
}

/** Returns the challenge of a verifier (RFC 7636 section 4.2). */
export function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url')
}

function hostOf(site: string): string {
  return new URL(site).hostname.replace(/^\[|\]$/g, '')
}
