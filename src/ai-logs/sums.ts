// Sums over log entries, in total and by group.

import type { LogSummary } from '../store/records/records.ts'

/** What entries can be summed by. */
export const dimensions = ['token', 'model', 'provider', 'day'] as const
export type Dimension = (typeof dimensions)[number]

/** Callers choose model names freely, so that there may be any number of groups. */
export const mostGroups = 10_000

export interface Sum {
  count: number
  tokensIn: number
  tokensOut: number
  /** US dollars. */
  cost: number
  /** How many entries have no cost. */
  withoutCost: number
}

/** What the entries of a group have in common; only the dimensions of the grouping are present. */
export interface GroupKey {
  token?: { readonly id: string | null; name: string | null; at: number }
  model?: string | null
  provider?: string
  /** Of UTC, as 2026-01-31. */
  day?: string
}

export interface Group extends Sum {
  readonly key: GroupKey
}

const day = 86_400_000

export class LogSums {
  readonly all: Sum = nothing()
  readonly groups = new Map<string, Group>()
  readonly #groupBy: readonly Dimension[]

  /** @param groupBy in the order of `dimensions`; empty for totals only */
  constructor(groupBy: readonly Dimension[]) {
    this.#groupBy = groupBy
  }

  /** Counts an entry; false where that would exceed the number of groups. */
  add(entry: LogSummary): boolean {
    count(this.all, entry)
    if (this.#groupBy.length === 0) return true
    const name = this.#groupBy.map(dimension => JSON.stringify(partOf(entry, dimension))).join()
    let group = this.groups.get(name)
    if (group === undefined) {
      if (this.groups.size === mostGroups) return false
      group = { ...nothing(), key: keyOf(entry, this.#groupBy) }
      this.groups.set(name, group)
    }
    count(group, entry)
    const { token } = group.key
    if (token !== undefined && entry.createdAt > token.at)
      Object.assign(token, { name: entry.tokenName ?? null, at: entry.createdAt })
    return true
  }
}

function nothing(): Sum {
  return { count: 0, tokensIn: 0, tokensOut: 0, cost: 0, withoutCost: 0 }
}

function count(sum: Sum, { tokensIn, tokensOut, cost }: LogSummary): void {
  sum.count++
  sum.tokensIn += tokensIn ?? 0
  sum.tokensOut += tokensOut ?? 0
  if (cost === null) sum.withoutCost++
  else sum.cost += cost
}

function partOf(entry: LogSummary, dimension: Dimension): string | number | null {
  if (dimension === 'token') return entry.tokenId ?? null
  return dimension === 'day' ? Math.floor(entry.createdAt / day) : entry[dimension]
}

function keyOf(entry: LogSummary, groupBy: readonly Dimension[]): GroupKey {
  const key: GroupKey = {}
  if (groupBy.includes('token'))
    key.token = { id: entry.tokenId ?? null, name: entry.tokenName ?? null, at: entry.createdAt }
  if (groupBy.includes('model')) key.model = entry.model
  if (groupBy.includes('provider')) key.provider = entry.provider
  if (groupBy.includes('day')) key.day = new Date(entry.createdAt).toISOString().slice(0, 10)
  return key
}
