// What the store has of automatic certificates, kept up with it, so that no handshake asks it. While the store is unreachable, what is known stays in use.

import { type Clock, systemClock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secret-keys.ts'
import type { Logger } from '../../log/log.ts'
import { acmeOwner, type HostCertificate } from '../../store/acme.ts'
import { type Change, type Store, StoreUnreachable, type Versioned } from '../../store/store.ts'
import type { AutomaticTls } from '../automatic.ts'
import { keyContext } from './attempt.ts'
import { leaseTimeout } from './lease.ts'

interface KnownCertificatesOptions {
  readonly store: Store
  readonly secrets: SecretKeys
  readonly log: Logger
  readonly clock?: Clock
}

interface Known extends Versioned<HostCertificate> {
  /** The private key, PEM; null where there is none, or none that can be read. */
  readonly key: string | null
  /** Monotonic ms at which this version was seen first. */
  readonly seenAt: number
}

/** Ms between two tries to read. */
const pause = 1_000

export class KnownCertificates {
  readonly #store: Store
  readonly #secrets: SecretKeys
  readonly #log: Logger
  readonly #clock: Clock
  #known: ReadonlyMap<string, Known> = new Map()
  #isRead = false
  #due = new Set<string>()
  #isAllDue = true
  #reading: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #unfollow: (() => void) | null = null
  #isFailing = false
  #isClosed = false
  /** Called after what is known has changed. */
  changed: () => void = () => {}

  constructor({ store, secrets, log, clock = systemClock }: KnownCertificatesOptions) {
    this.#store = store
    this.#secrets = secrets
    this.#log = log
    this.#clock = clock
  }

  /** Resolves when all was read, or could not be; reading is tried again from then on. */
  async open(): Promise<void> {
    this.#unfollow = this.#store.changes.follow(change => this.#note(change))
    await this.#look()
  }

  /** Whether the store was read, so that a host without a record has none. */
  get isRead(): boolean {
    return this.#isRead
  }

  get(host: string): Known | null {
    return this.#known.get(host) ?? null
  }

  /** Whether the process that has the record has not written for so long that another one may take it over. */
  isAbandoned({ record, seenAt }: Known): boolean {
    return record.lease !== null && this.#clock.monotonic() - seenAt > leaseTimeout
  }

  /** Returns what is to be served for these hosts. */
  of(hosts: readonly string[]): AutomaticTls {
    const all = hosts.flatMap(host => this.#known.get(host) ?? [])
    return {
      identities: all.flatMap(({ record: { issued }, key }) =>
        issued === null || key === null ? [] : [{ certificate: issued.chain, key }],
      ),
      challenges: all.flatMap(({ record: { id, order } }) => {
        const challenge = order?.challenge
        return challenge ? [{ host: id, ...challenge }] : []
      }),
    }
  }

  /** Reads what was told and what is due now. */
  async refresh(host: string): Promise<void> {
    this.#due.add(host)
    await this.#reading
    await this.#look()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unfollow?.()
    clearTimeout(this.#timer)
    await this.#reading
  }

  #note(change: Change): void {
    if (change.kind === 'everything') this.#isAllDue = true
    else if (change.kind === 'certificate' && change.account === acmeOwner) this.#due.add(change.id)
    else return
    void this.#look()
  }

  #look(): Promise<void> {
    return (this.#reading ??= this.#readWhileDue())
  }

  async #readWhileDue(): Promise<void> {
    clearTimeout(this.#timer)
    // So that what is told in one turn is read together.
    await null
    try {
      while ((this.#isAllDue || this.#due.size > 0) && !this.#isClosed) await this.#readDue()
      if (this.#isFailing) this.#log.info('automatic certificates read again')
      this.#isFailing = false
    } catch (failure) {
      this.#fail(failure)
    }
    this.#reading = null
  }

  /** Reads what was told until now; what is told meanwhile is due again. */
  async #readDue(): Promise<void> {
    const [isAllDue, due] = [this.#isAllDue, this.#due]
    this.#isAllDue = false
    this.#due = new Set()
    try {
      if (isAllDue) await this.#readAll()
      else for (const host of due) await this.#readOne(host)
    } catch (failure) {
      this.#isAllDue = true
      throw failure
    }
    this.#isRead = true
    this.changed()
  }

  async #readAll(): Promise<void> {
    const known = new Map<string, Known>()
    for await (const records of this.#store.certificates.walk(acmeOwner))
      for (const { id } of records) {
        const found = await this.#read(id)
        if (found !== null) known.set(id, found)
      }
    this.#known = known
  }

  async #readOne(host: string): Promise<void> {
    const found = await this.#read(host)
    const known = new Map(this.#known)
    if (found === null) known.delete(host)
    else known.set(host, found)
    this.#known = known
  }

  async #read(host: string): Promise<Known | null> {
    const found = await this.#store.certificates.get(acmeOwner, host)
    if (found === null) return null
    const before = this.#known.get(host)
    if (before?.version === found.version) return before
    const { issued } = found.record
    const sealed = issued?.sealedKey
    const isSame = sealed !== undefined && before?.record.issued?.sealedKey === sealed
    const key = isSame
      ? before.key
      : sealed === undefined
        ? null
        : this.#secrets.unseal(sealed, keyContext(host))
    if (issued !== null && key === null && !isSame)
      this.#log.error(
        { host },
        'automatic certificate unreadable: its key was sealed with an unknown key; add that to secrets.old_keys',
      )
    return { ...found, key, seenAt: this.#clock.monotonic() }
  }

  #fail(failure: unknown): void {
    if (this.#isClosed) return
    if (!this.#isFailing) {
      if (failure instanceof StoreUnreachable)
        this.#log.warn({ reason: failure.reason }, 'automatic certificates not read: store unreachable')
      else this.#log.error({ err: failure }, 'reading automatic certificates failed')
    }
    this.#isFailing = true
    this.#timer = setTimeout(() => this.#look(), pause).unref()
  }
}
