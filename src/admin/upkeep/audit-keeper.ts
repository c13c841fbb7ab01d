// Bounds the audit log by age, and per actor, so that a busy one drops only their own entries.

import { type Clock, systemClock } from '../../base/clock.ts'
import type { Logger } from '../../log/log.ts'
import { nextRay } from '../../base/ids/ray.ts'
import { auditOf, isStranger, keeper } from '../../store/records/audit-entry.ts'
import { everybody } from '../../store/records/people.ts'
import type { AuditEntry } from '../../store/records/records.ts'
import { type DropTeller, type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { tellAudit } from '../records/audit.ts'

export interface AuditBounds {
  /** Ms. */
  readonly retention: number
  /** Maximum of entries per actor. */
  readonly entriesPerToken: number
}

interface AuditKeeperOptions {
  readonly store: Store
  readonly log: Logger
  readonly bounds: AuditBounds
  readonly clock?: Clock
}

/** Ms between two checks, and until the next one when the store was unreachable. */
const period = 3_600_000
const pause = 60_000
const day = 86_400_000
/** Maximum of failed sign-ins per user, so that months of guessing fill nothing. */
export const maxFailedSignIns = 1_000

export class AuditKeeper {
  readonly #store: Store
  readonly #log: Logger
  readonly #bounds: AuditBounds
  readonly #clock: Clock
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null
  #isClosed = false

  constructor({ store, log, bounds, clock = systemClock }: AuditKeeperOptions) {
    this.#store = store
    this.#log = log
    this.#bounds = bounds
    this.#clock = clock
  }

  start(): void {
    this.#looking = this.#look().then(wait => {
      this.#looking = null
      if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), wait).unref()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  async trim(): Promise<void> {
    const now = this.#clock.now()
    const { retention, entriesPerToken } = this.#bounds
    // Whole days, so that dropping by age makes one entry a day rather than one per dropped entry.
    const before = Math.floor((now - retention) / day) * day
    const maxOf = (actor: string) => {
      if (actor === keeper.id) return Infinity
      return isStranger(actor) ? Math.min(maxFailedSignIns, entriesPerToken) : entriesPerToken
    }
    for (const { id } of [...(await this.#store.accounts.list()), { id: everybody }]) {
      if (this.#isClosed) return
      const removed = await this.#store.audit.trim(id, { before, maxOf }, tellerOf(id, now))
      for (const entry of removed) tellAudit(this.#log, entry, 'audit entries dropped')
    }
  }

  /** Resolves to ms until the next check. */
  async #look(): Promise<number> {
    try {
      await this.trim()
      return period
    } catch (failure) {
      if (failure instanceof StoreUnreachable) return pause
      this.#log.error({ err: failure }, 'removing old audit entries failed')
      return period
    }
  }
}

/** Reports dropped entries of all actors except those for dropping itself: each would add another one. */
function tellerOf(account: string, now: number): DropTeller {
  const entries = new Map<string, AuditEntry>()
  return (actor, dropped) => {
    if (actor === keeper.id) return null
    let entry = entries.get(actor)
    if (entry === undefined) {
      const origin = { account, caller: keeper, now, address: '', ray: nextRay() }
      entry = auditOf(origin, 'drop', { resourceKind: 'audit_entries', resource: actor })
      entries.set(actor, entry)
    }
    return { ...entry, dropped }
  }
}
