// The handler and view of the sums of a gateway over time.

import { pause } from '../../base/turns/turns.ts'
import { CallSum } from '../../store/log-sums/call-sum.ts'
import type { CallKind, Cells } from '../../store/log-sums/cells.ts'
import { matchingCells } from '../../ai-logs/series/cell-filters.ts'
import type { Series } from '../../ai-logs/series/log-series.ts'
import { readSeries, type SeriesGroup, type SeriesQuery } from '../../ai-logs/query.ts'
import { type ApiResponse, failures, success, successInTurns } from '../http/envelope.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import { isoTime } from '../records/record-handlers.ts'
import type { Api, Call } from '../api/api-types.ts'
import { viewSum } from './view.ts'

/** Responds with sums over time, in total and by group. */
export async function seriesOfLogs(
  { account, params, query, now }: Call,
  { store, logSeries }: Api,
): Promise<ApiResponse> {
  const read = readSeries(query, now)
  if (Array.isArray(read)) return failures(read)
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const { filters, windows, groupBy } = read
  const series = await logSeries.read([account, gateway.id], windows, filters)
  const { result, groups, viewGroup } = await viewSeries(series, read)
  return groupBy === null ? success(result) : successInTurns(result, 'groups', groups, viewGroup)
}

/** Groups beyond this are shown as one. */
const maxSeriesGroups = 10

/** Sums by window, and of all windows. */
class Line {
  readonly windows: (CallSum | undefined)[] = []
  #total: CallSum | null = null

  /** Valid once all windows have been added. */
  get total(): CallSum {
    if (this.#total !== null) return this.#total
    this.#total = new CallSum()
    for (const sum of this.windows) if (sum !== undefined) this.#total.merge(sum)
    return this.#total
  }

  add(at: number, sum: CallSum): void {
    const window = (this.windows[at] ??= new CallSum())
    window.merge(sum)
  }

  addAll({ windows }: Line): void {
    for (const [at, sum] of windows.entries()) if (sum !== undefined) this.add(at, sum)
  }
}

interface Group {
  readonly line: Line
  kind: CallKind
  latest: number
}

async function viewSeries({ windows, completeSince, scanned }: Series, query: SeriesQuery) {
  const { windows: range, bucket, groupBy } = query
  const filters = scanned === null ? query.filters : []
  const all = new Line()
  const groups = new Map<string | null, Group>()
  const others = new Line()
  for (const [at, cells] of windows.entries()) {
    await pause()
    for (const { kind, latest, sum } of matchingCells(cells, filters)) {
      const line = groupBy === null ? all : groupOf(groups, groupBy, kind, latest).line
      line.add(at, sum)
    }
    addRest(cells, at, filters.length === 0 ? [all, others] : [])
  }
  for (const { line } of groups.values()) {
    all.addAll(line)
    await pause()
  }
  const ordered = [...groups.values()].sort((a, b) => b.line.total.count - a.line.total.count)
  for (const { line } of ordered.slice(maxSeriesGroups)) {
    others.addAll(line)
    await pause()
  }
  const timeAt = (at: number) => isoTime(range.since + at * range.width)
  const points = Array.from({ length: range.count }, (_, at) => ({
    at: timeAt(at),
    ...viewWindow(all.windows[at] ?? none),
  }))
  const sparse = ({ windows }: Line) =>
    windows.flatMap((sum, at) => (sum === undefined ? [] : [{ at: timeAt(at), ...viewWindow(sum) }]))
  const viewGroup = ({ line, kind }: Group) => ({
    ...nameOf(groupBy!, kind),
    ...viewWindow(line.total),
    points: sparse(line),
  })
  const result = {
    bucket,
    since: timeAt(0),
    before: timeAt(range.count),
    complete_since: isoTime(completeSince),
    is_complete: completeSince <= range.since,
    scanned: scanned ?? 0,
    ...viewWindow(all.total),
    points,
    ...(groupBy !== null && { others: { ...viewWindow(others.total), points: sparse(others) } }),
  }
  return { result, groups: ordered.slice(0, maxSeriesGroups), viewGroup }
}

/** Adds the calls of a window without a cell of their own: their groups are unknown. */
function addRest({ rest }: Cells, at: number, lines: readonly Line[]): void {
  if (rest.count > 0) for (const line of lines) line.add(at, rest)
}

function groupOf(
  groups: Map<string | null, Group>,
  groupBy: SeriesGroup,
  kind: CallKind,
  latest: number,
): Group {
  const name = kind[kindMembers[groupBy]]
  let group = groups.get(name)
  if (group === undefined) groups.set(name, (group = { line: new Line(), kind, latest }))
  else if (latest > group.latest) Object.assign(group, { kind, latest })
  return group
}

const kindMembers = {
  model: 'model',
  provider: 'provider',
  token: 'tokenId',
  app: 'client',
} as const satisfies Record<SeriesGroup, keyof CallKind>

function keyOf(groupBy: SeriesGroup, { model, provider, tokenId, client }: CallKind) {
  switch (groupBy) {
    case 'model':
      return { model }
    case 'provider':
      return { provider }
    case 'token':
      return { token_id: tokenId }
    case 'app':
      return { client_id: client }
  }
}

function nameOf(groupBy: SeriesGroup, kind: CallKind) {
  const { tokenName, client } = kind
  const key = keyOf(groupBy, kind)
  if (groupBy === 'token') return { ...key, token_name: tokenName }
  return groupBy === 'app' ? { ...key, client_name: client === null ? null : tokenName } : key
}

const none = new CallSum()

function viewWindow(sum: CallSum) {
  return {
    ...viewSum(sum),
    errors: sum.errors,
    duration_p50: sum.percentile(0.5),
    duration_p95: sum.percentile(0.95),
  }
}
