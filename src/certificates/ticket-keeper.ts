// Makes and replaces the keys that seal the TLS sessions of clients, the same ones for all processes and machines that share the store. While the store is
// unreachable those that are known stay in use; where none is, one of this gateway alone.

import { type Clock, systemClock } from '../base/clock.ts'
import type { SecretKeys } from '../base/secrets/secret-keys.ts'
import type { Logger } from '../log/log.ts'
import type { Store } from '../store/contract/store.ts'
import { type TicketKey, ticketOwner } from '../store/records/ticket-key.ts'
import { newTicketKey, sessionLifetime, type TicketKeySet } from '../tls/ticket-keys.ts'

interface TicketKeeperOptions {
  readonly store: Store
  readonly secrets: SecretKeys
  readonly log: Logger
  /** Takes the keys whenever they change. */
  readonly changed: (keys: TicketKeySet) => void
  readonly clock?: Clock
}

const hour = 3_600_000
/** How long a key seals. The next one is there as long before it does, so that all have it by then. */
const period = 12 * hour
/** By how much the clocks of machines may differ. */
const skew = hour / 6
/** Ms between two looks at the store, and the same while it has not said what the key is. */
const usualWait = 60_000
const shortWait = 5_000
const most = 100

interface KnownKey {
  readonly startsAt: number
  readonly bytes: Buffer
}

export class TicketKeeper {
  readonly #store: Store
  readonly #secrets: SecretKeys
  readonly #log: Logger
  readonly #changed: TicketKeeperOptions['changed']
  readonly #clock: Clock
  /** By id. */
  readonly #known = new Map<string, KnownKey>()
  #current = ''
  /** The ids of those that were passed on last, the current one first. */
  #passedOn = ''
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null
  #isClosed = false

  constructor({ store, secrets, log, changed, clock = systemClock }: TicketKeeperOptions) {
    this.#store = store
    this.#secrets = secrets
    this.#log = log
    this.#changed = changed
    this.#clock = clock
  }

  /** Wall-clock ms since when the current key seals. */
  get since(): number {
    return this.#known.get(this.#current)?.startsAt ?? 0
  }

  /** Whether others have the current key, too. */
  get isShared(): boolean {
    return !this.#current.startsWith(ownPrefix)
  }

  /** Finds or makes the keys, then looks again from time to time; never rejects. */
  start(): Promise<void> {
    this.#looking = this.#look().then(() => {
      if (this.#isClosed) return
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.start(), this.isShared ? usualWait : shortWait).unref()
    })
    return this.#looking
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    const failure = await this.#share().then(
      () => undefined,
      (cause: unknown) => cause,
    )
    const now = this.#clock.now()
    for (const [id, { startsAt }] of this.#known)
      if (now >= startsAt + period + sessionLifetime) this.#known.delete(id)
    this.#passOn(this.#choose(now), failure)
  }

  /** Reads what the others have made, and makes what nobody has. */
  async #share(): Promise<void> {
    const now = this.#clock.now()
    const page = { offset: 0, limit: most }
    const { items } = await this.#store.ticketKeys.list(ticketOwner, page)
    for (const key of items) this.#learn(key)
    const start = startOf(now)
    for (const startsAt of [start, start + period])
      if (!this.#known.has(this.#idOf(startsAt))) await this.#make(startsAt)
    for (const { id, startsAt } of items)
      if (now >= startsAt + period + sessionLifetime + skew)
        await this.#store.ticketKeys.remove(ticketOwner, id)
  }

  /** Of several that make the same key, one does: it has the same id for all. */
  async #make(startsAt: number): Promise<void> {
    const id = this.#idOf(startsAt)
    const bytes = newTicketKey()
    const sealed = this.#secrets.seal(bytes.toString('base64url'), sealContext(id))
    const made: TicketKey = { account: ticketOwner, id, startsAt, sealed, createdAt: this.#clock.now() }
    if (await this.#store.ticketKeys.insert(made)) this.#known.set(id, { startsAt, bytes })
    else await this.#store.ticketKeys.get(ticketOwner, id).then(found => found && this.#learn(found.record))
  }

  /** Keys that others have sealed with keys of their own are theirs alone. */
  #learn({ id, startsAt, sealed }: TicketKey): void {
    if (this.#known.has(id)) return
    const text = this.#secrets.unseal(sealed, sealContext(id))
    if (text !== null) this.#known.set(id, { startsAt, bytes: Buffer.from(text, 'base64url') })
  }

  /** Returns the id of the key that seals now. */
  #choose(now: number): string {
    const startsAt = startOf(now)
    const shared = this.#idOf(startsAt)
    if (this.#known.has(shared)) return shared
    const own = ownPrefix + startsAt
    if (!this.#known.has(own)) this.#known.set(own, { startsAt, bytes: newTicketKey() })
    return own
  }

  #passOn(current: string, failure: unknown): void {
    const wasShared = this.#current === '' || this.isShared
    this.#current = current
    if (wasShared && !this.isShared)
      this.#log.warn({ err: failure }, 'keys of TLS sessions not shared: the store has none that can be read')
    if (!wasShared && this.isShared) this.#log.info('keys of TLS sessions shared again')
    const ids = [current, ...[...this.#known.keys()].filter(id => id !== current)]
    if (ids.join() === this.#passedOn) return
    this.#passedOn = ids.join()
    const [key, ...others] = ids.map(id => this.#known.get(id)!.bytes)
    this.#changed({ current: key!, others })
  }

  #idOf(startsAt: number): string {
    return `${new Date(startsAt).toISOString()}-${this.#secrets.currentId}`
  }
}

const ownPrefix = 'own-'

/** Returns the beginning of the period of a time, the same on all machines. */
function startOf(now: number): number {
  return now - (now % period)
}

function sealContext(id: string): string {
  return `ticket key ${id}`
}
