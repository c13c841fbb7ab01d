// Which budgets have reached a threshold of an alert, and which deliveries are over.

import type { AlertDelivery, BudgetAlert } from '../../store/records/budget-alerts.ts'

/** What is spent of one budget. */
export interface Level {
  readonly bucket: string
  /** Percent of the limit. */
  readonly percent: number
  /** When it may be told again, in ms since the epoch. */
  readonly until: number
  /** Returns what the message says about it. */
  readonly data: () => object
}

/** Deliveries that a gateway remembers. */
const maxDeliveries = 1_000
/** A budget of a sliding window must fall this far below a threshold to reach it again: percentage points. */
const margin = 5

/**
 * Returns the deliveries that go on: those of budgets that started over or fell below their threshold, and of
 * alerts or thresholds that are gone, are forgotten. A budget without a level keeps its own.
 */
export function remaining(
  deliveries: readonly AlertDelivery[],
  alerts: readonly BudgetAlert[],
  levels: ReadonlyMap<string, Level>,
  now: number,
): readonly AlertDelivery[] {
  const currentKeys = new Set(
    alerts.flatMap(({ id, thresholds }) => thresholds.map(percent => `${id} ${percent}`)),
  )
  return deliveries.filter(({ alert, bucket, threshold, until }) => {
    if (!currentKeys.has(`${alert} ${threshold}`) || until <= now) return false
    const level = levels.get(bucket)
    return level === undefined || level.percent > threshold - margin
  })
}

export interface Crossing {
  readonly alert: BudgetAlert
  readonly level: Level
  readonly threshold: number
}

/** Lists the thresholds that are reached and were not told: of each budget and alert only the highest. */
export function crossings(
  deliveries: readonly AlertDelivery[],
  alerts: readonly BudgetAlert[],
  levels: Iterable<Level>,
): readonly Crossing[] {
  const highestOf = new Map<string, number>()
  for (const { alert, bucket, threshold } of deliveries) {
    const key = `${alert} ${bucket}`
    highestOf.set(key, Math.max(highestOf.get(key) ?? 0, threshold))
  }
  const crossed: Crossing[] = []
  for (const level of levels)
    for (const alert of alerts) {
      const threshold = alert.thresholds.findLast(threshold => level.percent >= threshold)
      if (threshold === undefined || threshold <= (highestOf.get(`${alert.id} ${level.bucket}`) ?? 0))
        continue
      crossed.push({ alert, level, threshold })
    }
  return crossed.slice(0, Math.max(0, maxDeliveries - deliveries.length))
}

/** Orders deliveries so that each alert has its turn, whatever the number of those of another one. */
export function inTurn(deliveries: readonly AlertDelivery[]): readonly AlertDelivery[] {
  const turns = new Map<string, number>()
  const numbered = deliveries.map(delivery => {
    const turn = turns.get(delivery.alert) ?? 0
    turns.set(delivery.alert, turn + 1)
    return { turn, delivery }
  })
  return numbered.sort((one, other) => one.turn - other.turn).map(({ delivery }) => delivery)
}

const minute = 60_000
const hour = 60 * minute
/** Ms before each further attempt: some ten hours in all. */
const waits = [30_000, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 4 * hour]

/** Returns a delivery after an attempt: due again later, or over. */
export function afterAttempt(delivery: AlertDelivery, failure: string | null, now: number): AlertDelivery {
  const attempts = delivery.attempts + 1
  const wait = failure === null ? undefined : waits[attempts - 1]
  return { ...delivery, attempts, failure, nextAt: wait === undefined ? null : now + wait }
}
