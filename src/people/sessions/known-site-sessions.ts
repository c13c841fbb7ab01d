// What one process knows of the sessions at sites, so that most requests need no query. Changes of the
// records behind a session end or renew it here within a second.

import { type Clock, systemClock } from '../../base/clock.ts'
import { isDigest } from '../../store/records/credential.ts'
import { ReadThrough, type RecordChange } from '../../store/cache/read-through.ts'
import type { MaybeAtOnce, Store } from '../../store/contract/store.ts'
import { digestOfValue } from '../records/secret-value.ts'
import { useIsNotedAfter } from './sessions.ts'
import { type SiteSession, SiteSessions, type ValueTags } from './site-sessions.ts'

interface Options {
  readonly store: Store
  readonly tags: ValueTags
  /** Ms for which a session stays valid while the store is unreachable. */
  readonly grace: number
  readonly clock?: Clock
}

interface Known {
  readonly session: SiteSession
  /** When its next use has to be noted, in monotonic ms; -Infinity if it was only reviewed. */
  readonly dueAt: number
}

const size = 20_000
const missLife = 5_000
const kinds = ['credential', 'user', 'member', 'account'] as const

export class KnownSiteSessions {
  readonly #cache: ReadThrough<Known>
  readonly #sessions: SiteSessions
  readonly #clock: Clock
  /** Whether the query that begins is for a use of the session. */
  #isUse = true

  constructor({ store, tags, grace, clock = systemClock }: Options) {
    const sessions = new SiteSessions(store, tags, clock)
    this.#sessions = sessions
    this.#clock = clock
    this.#cache = new ReadThrough<Known>({
      load: async digest => {
        const isUse = this.#isUse
        const dueAt = isUse ? clock.monotonic() + useIsNotedAfter : Number.NEGATIVE_INFINITY
        const session = await sessions.find(digest, isUse)
        return session && { session, dueAt }
      },
      changes: store.changes,
      kinds,
      concerns: (change, { session }) => concerns(change, session),
      endedBy: ({ kind, id }) => (kind === 'credential' && isDigest(id) ? id : null),
      groupOf: ({ session }) => session.parent.id,
      now: () => clock.monotonic(),
      ...{ size, missLife, grace },
    })
  }

  /** Null if there is none, or if the value is made up; rejects with `StoreUnreachable`. */
  find(value: string): MaybeAtOnce<SiteSession | null> {
    const digest = digestOfValue(value)
    const known = this.#cache.cached(digest)
    if (known === null || (known === undefined && !this.#sessions.mayExist(value))) return null
    if (known !== undefined && this.#clock.monotonic() < known.dueAt) return this.#unlessOver(known)
    return this.#query(digest)
  }

  /** As `find`, by the digest of one that was found, and no use of it, so that it may end meanwhile. */
  review(digest: string): MaybeAtOnce<SiteSession | null> {
    const known = this.#cache.cached(digest)
    if (known === null) return null
    if (known !== undefined && this.#unlessOver(known) !== null) return known.session
    this.#isUse = false
    const found = this.#query(digest)
    this.#isUse = true
    return found
  }

  /** Whether it is still what `find` returned, and may be used without another call. */
  isCurrent(session: SiteSession): boolean {
    const known = this.#cache.cached(session.digest)
    if (known?.session !== session || this.#clock.monotonic() >= known.dueAt) return false
    return this.#unlessOver(known) !== null
  }

  async #query(digest: string): Promise<SiteSession | null> {
    return this.#unlessOver(await this.#cache.query(digest))
  }

  #unlessOver(known: Known | null): SiteSession | null {
    return known !== null && this.#clock.now() < known.session.endsAt ? known.session : null
  }
}

/** A member whose record is new is not known by its id. */
function concerns({ kind, id }: RecordChange, { user, memberships }: SiteSession): boolean {
  return kind === 'member' || id === user.id || memberships.some(({ account }) => account === id)
}
