// Rotates the keys that seal TLS sessions, shared by all processes and machines on the same store. While the
// store is unreachable the known keys stay in use; without any, the gateway makes one of its own.

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
  readonly changed: (keys: TicketKeySet) => void
  readonly clock?: Clock
}

const hour = 3_600_000
/** Ms; the next key is stored as long in advance, so that every machine has it. */
const period = 12 * hour
/** Between the clocks of machines. */
const skew = hour / 6
/** Ms between two reads of the store. */
const defaultWait = 60_000
const shortWait = 5_000
const maxKeys = 100

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
  readonly #keys = new Map<string, KnownKey>()
  #current = ''
  /** As passed to `changed`, the current id first. */
  #passedOn = ''
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> | null = null
  #isClosed = false

  constructor({ store, secrets, log, changed, clock = systemClock }: TicketKeeperOptions) {
    this.#store = store
    this.#secrets = secrets
    this.#log = log
    this.#changed = changed
    this.#clock = clock
  }

  /** Ms since the epoch. */
  get since(): number {
    return this.#keys.get(this.#current)?.startsAt ?? 0
  }

  get isShared(): boolean {
    return !this.#current.startsWith(ownPrefix)
  }

  /** Never rejects. */
  start(): Promise<void> {
    this.#reading = this.#read().then(() => {
      if (this.#isClosed) return
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.start(), this.isShared ? defaultWait : shortWait).unref()
    })
    return this.#reading
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#reading
  }

  async #read(): Promise<void> {
    const failure = await this.#share().then(
      () => undefined,
      (cause: unknown) => cause,
    )
    const now = this.#clock.now()
    for (const [id, { startsAt }] of this.#keys)
      if (now >= startsAt + period + sessionLifetime) this.#keys.delete(id)
    this.#passOn(this.#choose(now), failure)
  }

  async #share(): Promise<void> {
    const now = this.#clock.now()
    const page = { offset: 0, limit: maxKeys }
    const { items } = await this.#store.ticketKeys.list(ticketOwner, page)
    for (const key of items) this.#learn(key)
    const start = startOf(now)
    for (const startsAt of [start, start + period])
      if (!this.#keys.has(this.#idOf(startsAt))) await this.#make(startsAt)
    for (const { id, startsAt } of items)
      if (now >= startsAt + period + sessionLifetime + skew)
        await this.#store.ticketKeys.remove(ticketOwner, id)
  }

  /** Of several concurrent writers one succeeds: the id is the same for all. */
  async #make(startsAt: number): Promise<void> {
    const id = this.#idOf(startsAt)
    const bytes = newTicketKey()
    const sealed = this.#secrets.seal(bytes.toString('base64url'), sealContext(id))
    const made: TicketKey = { account: ticketOwner, id, startsAt, sealed, createdAt: this.#clock.now() }
    if (await this.#store.ticketKeys.insert(made)) this.#keys.set(id, { startsAt, bytes })
    else
      await this.#store.ticketKeys.get(ticketOwner, id).then(stored => stored && this.#learn(stored.record))
  }

  /** Keys sealed with other server keys are used only by their makers. */
  #learn({ id, startsAt, sealed }: TicketKey): void {
    if (this.#keys.has(id)) return
    const text = this.#secrets.unseal(sealed, sealContext(id))
    if (text !== null) this.#keys.set(id, { startsAt, bytes: Buffer.from(text, 'base64url') })
  }

  #choose(now: number): string {
    const startsAt = startOf(now)
    const shared = this.#idOf(startsAt)
    if (this.#keys.has(shared)) return shared
    const own = ownPrefix + startsAt
    if (!this.#keys.has(own)) this.#keys.set(own, { startsAt, bytes: newTicketKey() })
    return own
  }

  #passOn(current: string, failure: unknown): void {
    const wasShared = this.#current === '' || this.isShared
    this.#current = current
    if (wasShared && !this.isShared)
      this.#log.warn({ err: failure }, 'keys of TLS sessions not shared: the store has none that can be read')
    if (!wasShared && this.isShared) this.#log.info('keys of TLS sessions shared again')
    const ids = [current, ...[...this.#keys.keys()].filter(id => id !== current)]
    if (ids.join() === this.#passedOn) return
    this.#passedOn = ids.join()
    const [key, ...others] = ids.map(id => this.#keys.get(id)!.bytes)
    this.#changed({ current: key!, others })
  }

  #idOf(startsAt: number): string {
    return `${new Date(startsAt).toISOString()}-${this.#secrets.currentId}`
  }
}

const ownPrefix = 'own-'

/** The same on all machines. */
function startOf(now: number): number {
  return now - (now % period)
}

function sealContext(id: string): string {
  return `ticket key ${id}`
}
