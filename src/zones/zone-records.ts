// The API settings of zones: error rules, error pages and access rules, kept in step with the store, so that
// requests need no query. While the store is unreachable, the last known settings stay in effect without a
// time limit.

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
  /** Whether this process writes that copy: one process per machine does. */
  readonly writes?: boolean
  readonly clock?: Clock
}

const messages = {
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
  #settings: KnownZones | null = null

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
      ...{ store, log, words: messages, copy: this.#copy },
      nameOf: change => (isOfZone(change) ? change : null),
      readAll: async () => this.#notify(this.#replaceAll(await readAll(store))),
      readThese: async names => this.#notify(this.#apply(await readThese(store, names))),
      takeCopy: lists => void this.#replaceAll(lists),
    })
  }

  /**
   * Resolves when everything has been read, or when that failed and the copy of the last run, if any, is in
   * use; from then on reading is retried.
   */
  open(): Promise<void> {
    return this.#follower.open()
  }

  /** Returns the settings of a zone, empty for none; null while those of all zones are unknown. */
  of(zone: string): KnownZone | null {
    return this.#settings?.of(zone) ?? null
  }

  /** Calls back after changes, once for those that arrive together; returns the unsubscriber. */
  follow(listener: () => void): () => void {
    const own = () => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** Resolves when a pending write of the copy has finished. */
  async close(): Promise<void> {
    this.#listeners.clear()
    await this.#follower.close()
  }

  #replaceAll(lists: ZoneRecordLists): boolean {
    const isFirst = this.#settings === null
    this.#settings ??= new KnownZones()
    return this.#settings.putAll(lists) || isFirst
  }

  #apply(records: readonly ReadRecord[]): boolean {
    const settings = this.#settings!
    return records.map(({ kind, id, record }) => settings.put(kind, id, record)).includes(true)
  }

  #notify(isNews: boolean): void {
    if (!isNews || this.#follower.isClosed) return
    if (this.#writes) this.#copy?.write(() => this.#settings!.lists())
    for (const listener of this.#listeners) {
      try {
        listener()
      } catch (bug) {
        // The other listeners must still be called, and the store is not to blame.
        this.#log.error({ err: bug }, 'applying the API-managed rules of zones failed')
      }
    }
  }
}

function isOfZone(change: Change): change is Change & ZoneRecordName {
  return (zoneRecordKinds as readonly string[]).includes(change.kind)
}
