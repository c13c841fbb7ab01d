// Appends log entries to their gateways within their limits: as part of a store, or in a thread of its own.

import { idsOf, type LogBatch, timesOf } from '../../log-batch/batch.ts'
import { partOf } from '../../log-batch/writer.ts'
import { fittest } from '../../contract/log-limit.ts'
import type { LogLimit } from '../../contract/store.ts'
import type { Database } from '../database/database.ts'
import { LogSegments } from './segments.ts'

/** Entries that are hidden without a pause for other writes. */
const slice = 2000

export class LogAppender {
  readonly #db: Database
  readonly #segments: LogSegments

  constructor(db: Database, segments = new LogSegments(db)) {
    this.#db = db
    this.#segments = segments
  }

  /** Appends as `Logs.append` does. */
  async append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number> {
    const { key, kept, excess } = await this.#db.write(() => this.#append(account, gateway, batch, limit))
    for (let left = excess; left > 0; ) left = await this.#db.write(() => this.#makeRoom(key, limit))
    return kept
  }

  #append(account: string, gateway: string, batch: LogBatch, limit: LogLimit) {
    const key = this.#segments.gatewayKey(account, gateway, limit.madeAt)
    if (key === null) return { key: 0, kept: 0, excess: 0 }
    const wanted = fittestOf(batch, limit)
    const fresh = batch.isRepeated ? this.#unknownOf(key, wanted) : wanted
    const known = wanted.count - fresh.count
    const fitting = this.#fitting(key, fresh, limit)
    if (fitting.count === 0) return { key, kept: known, excess: this.#makeRoom(key, limit) }
    const segment = this.#segments.append(key, fitting)
    const before = this.#segments.countIn(segment)
    const excess = this.#makeRoom(key, limit, true)
    const isWhole = this.#segments.countIn(segment) === before
    const kept = isWhole ? fitting.count : this.#segments.countShown(segment, new Set(idsOf(fitting.ids)))
    return { key, kept: known + kept, excess }
  }

  #unknownOf(key: number, batch: LogBatch): LogBatch {
    const known = this.#segments.idsAround(key, batch)
    return partOf(batch, id => !known.has(id))
  }

  /** Returns what may find room, by the times of the entries that are kept. */
  #fitting(key: number, batch: LogBatch, { most, strategy }: LogLimit): LogBatch {
    const count = this.#segments.count(key)
    const deletes = strategy === 'DELETE_OLDEST'
    if (most === 0 || (!deletes && count > most)) return partOf(batch, () => false)
    if (count < most) return batch
    const edge = this.#segments.edge(key, deletes ? 'first' : 'last')!
    if (deletes ? batch.earliest >= edge : batch.latest <= edge) return batch
    const times = timesOf(batch)
    return partOf(batch, (_, place) => (deletes ? times[place]! >= edge : times[place]! <= edge))
  }

  /** Hides what is beyond the limit, where a gateway stops at it only what others were added for; gives how many entries are still too many. */
  #makeRoom(key: number, { most, strategy }: LogLimit, hasAdded = false): number {
    const deletes = strategy === 'DELETE_OLDEST'
    const excess = this.#segments.count(key) - most
    if (excess <= 0 || !(deletes || hasAdded)) return 0
    this.#segments.hide(key, Math.min(excess, slice), deletes ? 'first' : 'last')
    return Math.max(0, excess - slice)
  }
}

function fittestOf(batch: LogBatch, limit: LogLimit): LogBatch {
  if (batch.count <= limit.most) return batch
  const times = timesOf(batch)
  const names = idsOf(batch.ids)
  const chosen = new Set(
    fittest(
      names.map((id, place) => ({ id, createdAt: times[place]! })),
      limit,
    ).map(({ id }) => id),
  )
  return partOf(batch, id => chosen.has(id))
}
