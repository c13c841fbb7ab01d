// Handlers that scan a bounded number of log entries, and say where to continue.

import { logCursorOf, readTail, tailCursorOf } from '../../ai-logs/query.ts'
import { matches } from '../../store/contract/log-match.ts'
import type { LogScanQuery, Store } from '../../store/contract/store.ts'
import { type ApiResponse, failures, pieceInTurns } from '../http/envelope.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import type { Api, Call } from '../api/api-types.ts'
import { viewSummary } from './view.ts'

/** Responds with the matches among a bounded number of entries, and where to continue. */
export async function scanLogs(
  home: readonly [account: string, gateway: string],
  query: LogScanQuery,
  { logs }: Store,
): Promise<ApiResponse> {
  const { items, scanned, next } = await logs.scan(...home, query)
  const info = {
    count: items.length,
    per_page: query.limit,
    scanned,
    ...(next && { cursor: logCursorOf(next) }),
  }
  return pieceInTurns(items, viewSummary, info)
}

/** Responds with the latest entries in the order of storage, or with those since. */
export async function tailLogs({ account, params, query }: Call, { store }: Api): Promise<ApiResponse> {
  const read = readTail(query)
  if (Array.isArray(read)) return failures(read)
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const { filters, after, limit } = read
  const maxEntries = filters.length === 0 ? limit : maxTailed
  const { items, end } = await store.logs.tail(account, gateway.id, after, maxEntries)
  const matching = filters.length === 0 ? items : items.filter(entry => matches(entry, filters))
  // At first, only the last ones are shown; later, none is left out.
  const shown = after === null ? matching.slice(-limit) : matching
  const info = { count: shown.length, scanned: items.length, cursor: tailCursorOf(end) }
  return pieceInTurns(shown, viewSummary, info)
}

/** How many entries are scanned for filters. */
const maxTailed = 500
