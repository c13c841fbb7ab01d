// Handlers of the logs of AI gateways.

import { auditOf } from '../../store/records/audit-entry.ts'
import { logCursorOf, readQuery, readRemoval, readSums } from '../../ai-logs/query.ts'
import { maxGroups, sumByGroup } from '../../ai-logs/sums.ts'
import { editLine } from '../../log-export/lines.ts'
import { sortInTurns } from '../../base/turns/sort-in-turns.ts'
import { pause } from '../../base/turns/turns.ts'
import { CallSum } from '../../store/log-sums/call-sum.ts'
import { placeOf } from '../../store/contract/log-match.ts'
import type { LogEntry, Payload } from '../../store/records/records.ts'
import type { LogEdit } from '../../store/contract/store.ts'
import { tellBefore } from '../records/record-handlers.ts'
import {
  type ApiResponse,
  failure,
  failures,
  listInTurns,
  success,
  successInTurns,
} from '../http/envelope.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import type { Api, Call } from '../api/api-types.ts'
import { readEdit } from './edit.ts'
import { scanLogs } from './scan.ts'
import { dearestFirst, showPayload, viewEntry, groupView, viewSum, viewSummary } from './view.ts'

export async function listLogs({ account, params, query }: Call, { store }: Api): Promise<ApiResponse> {
  const read = readQuery(query)
  if (Array.isArray(read)) return failures(read)
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const { maxScanned } = read
  if (maxScanned !== undefined) return scanLogs([account, gateway.id], { ...read, maxScanned }, store)
  const { offset, limit, orderBy } = read
  // One more, which shows whether anything follows the page.
  const { items, total } = await store.logs.list(account, gateway.id, { ...read, limit: limit + 1 })
  const shown = items.slice(0, limit)
  const cursor = items.length > limit ? logCursorOf(placeOf(shown.at(-1)!, orderBy)) : null
  return listInTurns(shown, viewSummary, { page: offset / limit + 1, perPage: limit, total, cursor })
}

/** Responds with sums over the filtered entries, in all and by token, model, provider or day. */
export async function sumLogs({ account, params, query }: Call, { store }: Api): Promise<ApiResponse> {
  const read = readSums(query)
  if (Array.isArray(read)) return failures(read)
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const { filters, groupBy } = read as Exclude<typeof read, readonly unknown[]>
  const groups = await sumByGroup(store.logs, [account, gateway.id], filters, groupBy)
  if (groups === null) return tooManyGroups
  const all = new CallSum()
  for (const { sum } of groups) {
    all.merge(sum)
    await pause()
  }
  const ordered = groupBy.length === 0 ? [] : await sortInTurns(groups, dearestFirst)
  return successInTurns(viewSum(all), 'groups', ordered, groupView(groupBy))
}

const tooManyGroups = failure(
  'invalid',
  'group_by',
  `gives more than ${maxGroups} groups: filter, or group by fewer dimensions`,
)

export async function getLog(call: Call, api: Api): Promise<ApiResponse> {
  const entry = await entryOf(call, api)
  return entry ? success(viewEntry(entry)) : noLog
}

export async function editLog(call: Call, { store, spool }: Api): Promise<ApiResponse> {
  const { account, params, body } = call
  const edit = readEdit(body)
  if (Array.isArray(edit)) return failures(edit)
  const gateway = await findGateway(store, account, params.gateway_id!)
  const id = params.log_id!
  if (gateway === null || !isLogId(id)) return noLog
  const entry = await store.logs.edit(account, gateway.id, id, edit as LogEdit)
  await store.confirm()
  if (entry === null) return noLog
  await spool?.tell(editLine(call, entry))
  return success(viewSummary(entry))
}

/** Responds with the body that the caller of the AI gateway sent. */
export async function getLogRequest(call: Call, api: Api): Promise<ApiResponse> {
  return payloadOf((await entryOf(call, api))?.request)
}

/** Responds with the body that the caller of the AI gateway got. */
export async function getLogResponse(call: Call, api: Api): Promise<ApiResponse> {
  return payloadOf((await entryOf(call, api))?.response)
}

/** Responds with the body that the provider sent, if the caller got another one. */
export async function getLogProviderResponse(call: Call, api: Api): Promise<ApiResponse> {
  return payloadOf((await entryOf(call, api))?.providerResponse)
}

/**
 * Removes the filtered entries, and reports their number: if it equals the limit, there may be more. Every
 * removal has an audit entry.
 */
export async function deleteLogs(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const { account, params, query } = call
  const read = readRemoval(query)
  if (Array.isArray(read)) return failures(read)
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const audit = auditOf(call, 'delete_logs', { resourceKind: 'gateway', resource: gateway.id })
  const { total } = await store.logs.list(account, gateway.id, { ...read, limit: 0 })
  if (total === 0) {
    // An earlier attempt of the same request may have removed them without confirmation.
    await store.confirm()
    return success({ deleted: 0 })
  }
  const deleted = await tellBefore(audit, { store, log }, async () => {
    const count = await store.logs.remove(account, gateway.id, read)
    await store.confirm()
    return count
  })
  return success({ deleted })
}

const noLog = failure('no_such', 'Log entry')
const noPayload = failure('no_payload')

async function entryOf({ account, params }: Call, { store }: Api): Promise<LogEntry | null> {
  const gateway = await findGateway(store, account, params.gateway_id!)
  const id = params.log_id!
  return gateway && isLogId(id) ? store.logs.get(account, gateway.id, id) : null
}

function isLogId(id: string): boolean {
  return /^[0-9a-f]{16}$/.test(id)
}

function payloadOf(payload: Payload | null | undefined): ApiResponse {
  if (payload === undefined) return noLog
  return payload === null ? noPayload : showPayload(payload)
}
