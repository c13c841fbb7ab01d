// Handlers that look at a bounded number of log entries, and say where to go on.

import { logCursorOf, readTail, tailCursorOf, timeOf } from '../../ai-logs/query.ts'
import { matches, placeOf } from '../../store/contract/log-match.ts'
import type { LogSummary } from '../../store/records/records.ts'
import type { LogQuery, Position, Store } from '../../store/contract/store.ts'
import { type ApiResponse, failures, pieceInTurns } from '../http/envelope.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import type { Api, Call } from '../api/api-types.ts'
import { viewSummary } from './view.ts'

/** Responds with what matches among a bounded number of entries, and where to go on. */
export async function scanLogs(
  home: readonly [account: string, gateway: string],
  { filters, descending, limit, after = null }: LogQuery,
  mostScanned: number,
  { logs }: Store,
): Promise<ApiResponse> {
  const { since, before } = timeOf(filters)
  const until = performance.now() + scanPatience
  const first = after ? { at: after.createdAt, id: after.id } : startOf(descending ? before : since)
  const items: LogSummary[] = []
  let [scanned, last, isOver] = [0, null as LogSummary | null, true]
  scan: for await (const entries of logs.walk(...home, { descending, after: first }))
    for (const entry of entries) {
      const isBeyond = descending ? entry.createdAt < since : entry.createdAt >= before
      if (isBeyond) break scan
      if (
        items.length === limit ||
        scanned >= mostScanned ||
        (scanned % 64 === 63 && performance.now() > until)
      ) {
        isOver = false
        break scan
      }
      scanned++
      last = entry
      if (matches(entry, filters)) items.push(entry)
    }
  const cursor = isOver || last === null ? null : logCursorOf(placeOf(last, 'created_at'))
  const info = { count: items.length, per_page: limit, scanned, ...(cursor !== null && { cursor }) }
  return pieceInTurns(items, viewSummary, info)
}

/** Ms for which entries are looked at, whatever the number. */
const scanPatience = 50

function startOf(at: number): Position | null {
  return Number.isFinite(at) ? { at, id: '' } : null
}

/** Responds with the latest entries in the order in which they were kept, or with those that came since. */
export async function tailLogs({ account, params, query }: Call, { store }: Api): Promise<ApiResponse> {
  const read = readTail(query)
  if (Array.isArray(read)) return failures(read)
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const { filters, after, limit } = read
  const most = filters.length === 0 ? limit : mostTailed
  const { items, end } = await store.logs.tail(account, gateway.id, after, most)
  const matching = filters.length === 0 ? items : items.filter(entry => matches(entry, filters))
  // Of many the last ones are shown at first; later, none is left out.
  const shown = after === null ? matching.slice(-limit) : matching
  const info = { count: shown.length, scanned: items.length, cursor: tailCursorOf(end) }
  return pieceInTurns(shown, viewSummary, info)
}

/** How many entries are looked at for filters. */
const mostTailed = 500
