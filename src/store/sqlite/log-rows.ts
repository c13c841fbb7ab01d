// Log entries as rows of the tables logs and log_payloads, and back.
import type { LogEntry, LogSummary, Payload } from '../records.ts'
import type { Row, Value } from './database.ts'

/** The columns of logs behind the key, in the order of `summaryValues`. */
export const summaryColumns = [
  'id',
  'created_at',
  'provider',
  'model',
  'path',
  'status',
  'success',
  'error',
  'duration',
  'time_to_first_byte',
  'tokens_in',
  'tokens_out',
  'cost',
  'cached',
  'authenticated',
  'streamed',
  'metadata',
  'request_content_type',
  'response_content_type',
] as const

/** Writes the gateway's key, the entry's number and the summary as `insertSummary` binds them. */
export function summaryValues(gateway: number, number: number, entry: LogSummary): Value[] {
  return [
    gateway,
    number,
    entry.id,
    entry.createdAt,
    entry.provider,
    entry.model,
    entry.path,
    entry.status,
    entry.success ? 1 : 0,
    entry.error,
    entry.duration,
    entry.timeToFirstByte,
    entry.tokensIn,
    entry.tokensOut,
    entry.cost,
    entry.cached ? 1 : 0,
    entry.authenticated ? 1 : 0,
    entry.streamed ? 1 : 0,
    entry.metadata && JSON.stringify(entry.metadata),
    entry.requestContentType,
    entry.responseContentType,
  ]
}

/** Reads a row of logs, of the gateway of that account and id. */
export function toSummary(account: string, gateway: string, row: Row): LogSummary {
  return {
    id: row.id as string,
    account,
    gateway,
    createdAt: row.created_at as number,
    provider: row.provider as string,
    model: row.model as string | null,
    path: row.path as string,
    status: row.status as number,
    success: row.success === 1,
    error: row.error as string | null,
    duration: row.duration as number,
    timeToFirstByte: row.time_to_first_byte as number | null,
    tokensIn: row.tokens_in as number | null,
    tokensOut: row.tokens_out as number | null,
    cost: row.cost as number | null,
    cached: row.cached === 1,
    authenticated: row.authenticated === 1,
    streamed: row.streamed === 1,
    metadata: row.metadata === null ? null : JSON.parse(row.metadata as string),
    requestContentType: row.request_content_type as string | null,
    responseContentType: row.response_content_type as string | null,
  }
}

/** Reads a row of logs with what there is of it in log_payloads. */
export function toEntry(account: string, gateway: string, row: Row): LogEntry {
  return {
    ...toSummary(account, gateway, row),
    request: toPayload(row.request, row.request_is_cut),
    response: toPayload(row.response, row.response_is_cut),
  }
}

function toPayload(text: Row[string] | undefined, isCut: Row[string] | undefined): Payload | null {
  return typeof text === 'string' ? { text, isCut: isCut === 1 } : null
}
