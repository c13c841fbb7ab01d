// What the management API has set for zones: error rules, error pages and access rules, kept up with the store, so that no request asks it. While the
// store is unreachable, what is known stays in effect without a time limit.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import { type Change, type Store, StoreUnreachable } from '../store/store.ts'
import { type KnownZone, KnownZones, type ZoneRecordLists, zoneRecordKinds } from './known-zones.ts'
import { type ReadRecord, readAll, readThese, type ZoneRecordName } from './read-zones.ts'
import { ZoneCopy } from './zone-copy.ts'

export interface ZoneRecordsOptions {
  readonly store: Store
  readonly log: Logger
  /** The file with the copy for a start while the store is unreachable; null for none. */
  readonly cachePath: string | null
  /** Whether this process writes that copy: one of a machine does. */
  readonly writes?: boolean
  readonly clock?: Clock
}

/** Ms between two tries to read. */
const pause = 1_000

export class ZoneRecords {
  readonly #store: Store
  readonly #log: Logger
  readonly #copy: ZoneCopy | null
  readonly #writes: boolean
  readonly #listeners = new Set<() => void>()
  #known: KnownZones | null = null
  /** What was told and not read yet. */
  #due: ZoneRecordName[] = []
  #isAllDue = true
  #reading: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #unfollow: (() => void) | null = null
  /** Whether the last reading failed: the log is told of an outage once. */
  #isFailing = false
  #isClosed = false

  constructor({ store, log, cachePath, writes = false, clock = systemClock }: ZoneRecordsOptions) {
    this.#store = store
    this.#log = log
    this.#writes = writes
    this.#copy =
      cachePath === null ? null : new ZoneCopy({ path: cachePath, location: store.location, log, clock })
  }

  /** Resolves when all was read, or could not be and the copy of last time was taken, where there is one; reading is tried again from then on. */
  async open(): Promise<void> {
    this.#unfollow = this.#store.changes.follow(change => this.#note(change))
    await this.#look()
    if (this.#known === null) await this.#takeCopy()
  }

  /** Returns what is set for a zone, empty where that is nothing; null while nothing is known of any. */
  of(zone: string): KnownZone | null {
    return this.#known?.of(zone) ?? null
  }

  /** Calls back after what is known has changed, once for changes that came together; gives what ends that. */
  follow(listener: () => void): () => void {
    const own = () => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** Resolves when the copy is written, as far as it is due. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unfollow?.()
    clearTimeout(this.#timer)
    this.#listeners.clear()
    await this.#copy?.close()
  }

  #note(change: Change): void {
    if (change.kind === 'everything') this.#isAllDue = true
    else if (isOfZone(change)) this.#due.push(change)
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
      while (this.#isDue && !this.#isClosed) await this.#readDue()
      this.#succeed()
    } catch (failure) {
      this.#fail(failure)
    }
    this.#reading = null
  }

  get #isDue(): boolean {
    return this.#isAllDue || this.#due.length > 0
  }

  /** Reads what was told until now; what is told meanwhile is due again, since it may have been read before it was written. */
  async #readDue(): Promise<void> {
    const [isAllDue, due] = [this.#isAllDue, this.#due]
    this.#isAllDue = false
    this.#due = []
    try {
      const isNews = isAllDue
        ? this.#takeAll(await readAll(this.#store))
        : this.#take(await readThese(this.#store, due))
      if (isNews) this.#tell()
    } catch (failure) {
      this.#isAllDue = true
      throw failure
    }
  }

  #takeAll(lists: ZoneRecordLists): boolean {
    const isFirst = this.#known === null
    this.#known ??= new KnownZones()
    return this.#known.putAll(lists) || isFirst
  }

  #take(records: readonly ReadRecord[]): boolean {
    const known = this.#known!
    return records.map(({ kind, id, record }) => known.put(kind, id, record)).includes(true)
  }

  #tell(): void {
    if (this.#isClosed) return
    if (this.#writes) this.#copy?.write(() => this.#known!.lists())
    for (const listener of this.#listeners) {
      try {
        listener()
      } catch (bug) {
        // The others still have to hear of it, and the store is not to blame.
        this.#log.error({ err: bug }, 'applying the API-managed rules of zones failed')
      }
    }
  }

  #succeed(): void {
    if (this.#isFailing) this.#log.info('API-managed rules of zones read again')
    this.#isFailing = false
  }

  #fail(failure: unknown): void {
    if (this.#isClosed) return
    if (!this.#isFailing) {
      if (failure instanceof StoreUnreachable)
        this.#log.warn({ reason: failure.reason }, 'API-managed rules of zones not read: store unreachable')
      else this.#log.error({ err: failure }, 'reading the API-managed rules of zones failed')
    }
    this.#isFailing = true
    this.#timer = setTimeout(() => this.#look(), pause).unref()
  }

  async #takeCopy(): Promise<void> {
    const copy = await this.#copy?.read()
    // The store may have come back meanwhile.
    if (this.#known !== null || this.#isClosed) return
    if (!copy)
      return this.#log.warn('API-managed rules of zones unknown: store unreachable and no local copy')
    this.#takeAll(copy)
    const writtenAt = new Date(copy.writtenAt).toISOString()
    this.#log.warn(
      { path: this.#copy!.path, writtenAt },
      'API-managed rules of zones loaded from the local copy',
    )
  }
}

function isOfZone(change: Change): change is Change & ZoneRecordName {
  return (zoneRecordKinds as readonly string[]).includes(change.kind)
}
