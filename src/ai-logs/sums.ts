// Sums of log entries by group.

import { pause } from '../base/turns/turns.ts'
import type { CallSum } from '../store/log-sums/call-sum.ts'
import type { CallKind, LogDimension } from '../store/log-sums/cells.ts'
import type { LogFilter, Logs } from '../store/contract/store.ts'
import { timeOf } from '../store/contract/log-match.ts'

export const dimensions = ['token', 'model', 'provider', 'day'] as const
export type Dimension = (typeof dimensions)[number]

/**
 * Callers choose model names freely, so the number of groups needs a limit. All are in memory until the
 * response is written, and one collection that copied 10,000 of them blocked the process for 6 to 8 ms.
 */
export const maxGroups = 5_000

export interface Group {
  readonly kind: CallKind
  /** Start of the day in ms since the epoch; null if the sums are not by day. */
  readonly day: number | null
  readonly sum: CallSum
}

const day = 86_400_000

/** Sums the matching entries by group; returns null if there are too many groups. */
export async function sumByGroup(
  logs: Logs,
  home: readonly [account: string, gateway: string],
  filters: readonly LogFilter[],
  groupBy: readonly Dimension[],
): Promise<readonly Group[] | null> {
  const width = groupBy.includes('day') ? day : null
  const by = groupBy.filter((dimension): dimension is LogDimension & Dimension => dimension !== 'day')
  const query = { time: timeOf(filters), filters, by, width, maxGroups, hasDurations: false }
  const { windows } = await logs.sum(...home, query)
  const groups: Group[] = []
  for (const [since, cells] of windows) {
    for (const { kind, sum } of cells.all()) {
      groups.push({ kind, day: width && since, sum })
      await pause()
    }
    if (cells.rest.count > 0 || groups.length > maxGroups) return null
  }
  return groups
}
