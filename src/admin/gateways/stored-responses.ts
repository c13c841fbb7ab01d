// The handlers of the responses that an AI gateway has stored: their number, and their deletion.

import { pause } from '../../base/turns/turns.ts'
import { CallSum } from '../../store/log-sums/call-sum.ts'
import { auditOf } from '../../store/records/audit-entry.ts'
import type { Gateway } from '../../store/records/records.ts'
import type { Api, Call } from '../api/api-types.ts'
import { type ApiResponse, success } from '../http/envelope.ts'
import { isoTime, revise } from '../records/record-handlers.ts'
import { findGateway, noGateway } from './gateways.ts'

const hour = 3_600_000
const hours = 24

export async function getStoredResponses(
  { account, params, now }: Call,
  { store, logSeries }: Api,
): Promise<ApiResponse> {
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const windows = { since: Math.floor(now / hour) * hour - (hours - 1) * hour, width: hour, count: hours }
  const [{ entries, bytes }, series] = await Promise.all([
    store.answers.sum(account, gateway.id),
    logSeries.read([account, gateway.id], windows, []),
  ])
  const calls = new CallSum()
  for (const cells of series.windows) {
    await pause()
    for (const { sum } of cells.all()) calls.merge(sum)
    calls.merge(cells.rest)
  }
  return success({
    entries,
    bytes,
    emptied_at: gateway.answersSince === undefined ? null : isoTime(gateway.answersSince),
    since: isoTime(windows.since),
    is_complete: series.completeSince <= windows.since,
    count: calls.count,
    count_cached: calls.savings.reused,
  })
}

/** First, no process may reuse them any more, whatever it has in memory; then they are erased. */
export async function deleteStoredResponses(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const { account, params, now } = call
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const { entries, bytes } = await store.answers.sum(account, gateway.id)
  const resource = { resourceKind: 'gateway', resource: gateway.id } as const
  const change = (current: Gateway) => ({
    record: { ...current, answersSince: Math.max(now, (current.answersSince ?? 0) + 1) },
    audit: auditOf(call, 'delete_responses', resource),
  })
  const revised = await revise(store.gateways, account, gateway.id, change, log)
  if (revised === null) return noGateway
  await store.answers.eraseGateway(account, gateway.id)
  return success({ entries, bytes })
}
