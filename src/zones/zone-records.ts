// What the management API has set for zones: error rules, error pages and access rules, kept up with the store, so that no request asks it. While the
// store is unreachable, what is known stays in effect without a time limit.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import { Follower } from '../store/cache/follower.ts'
import { LocalCopy } from '../store/cache/local-copy.ts'
import type { Change, Store } from '../store/contract/store.ts'
import { type KnownZone, KnownZones, type ZoneRecordLists, zoneRecordKinds } from './known-zones.ts'
import { type ReadRecord, readAll, readThese, type ZoneRecordName } from './read-zones.ts'

export interface ZoneRecordsOptions {
  readonly store: Store
  readonly log: Logger
  /** The file with the copy for a start while the store is unreachable; null for none. */
  readonly cachePath: string | null
  /** Whether this process writes that copy: one of a machine does. */
  readonly writes?: boolean
  readonly clock?: Clock
}

const words = {
  unread: 'API-managed rules of zones not read',
  failed: 'reading the API-managed rules of zones failed',
  again: 'API-managed rules of zones read again',
  unknown: 'API-managed rules of zones unknown: not read from the store, and no local copy',
  loaded: 'API-managed rules of zones loaded from the local copy',
}
const copyWords = {
  unusable: 'local copy of API-managed rules unusable',
  written: 'local copy of API-managed rules written again',
  unwritten: 'writing the local copy of API-managed rules failed',
}

export class ZoneRecords {
  readonly #log: Logger
  readonly #copy: LocalCopy<ZoneRecordLists> | null
  readonly #writes: boolean
  readonly #follower: Follower<ZoneRecordName, ZoneRecordLists>
  readonly #listeners = new Set<() => void>()
  #known: KnownZones | null = null

  constructor({ store, log, cachePath, writes = false, clock = systemClock }: ZoneRecordsOptions) {
    this.#log = log
    this.#writes = writes
    const { location } = store
    this.#copy =
      cachePath === null
        ? null
        : new LocalCopy({
            path: cachePath,
            mark: 'gatehouse-zones-1',
            words: copyWords,
            location,
            log,
            clock,
          })
    this.#follower = new Follower<ZoneRecordName, ZoneRecordLists>({
      ...{ store, log, words, copy: this.#copy },
      nameOf: change => (isOfZone(change) ? change : null),
      readAll: async () => this.#told(this.#takeAll(await readAll(store))),
      readThese: async names => this.#told(this.#take(await readThese(store, names))),
      takeCopy: lists => void this.#takeAll(lists),
    })
  }

  /** Resolves when all was read, or could not be and the copy of last time was taken, where there is one; reading is tried again from then on. */
  open(): Promise<void> {
    return this.#follower.open()
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
    this.#listeners.clear()
    await this.#follower.close()
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

  #told(isNews: boolean): void {
    if (!isNews || this.#follower.isClosed) return
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
}

function isOfZone(change: Change): change is Change & ZoneRecordName {
  return (zoneRecordKinds as readonly string[]).includes(change.kind)
}
