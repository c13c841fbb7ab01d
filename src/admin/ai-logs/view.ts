// How the management API shows the log entry of an AI call, in the shape of its published clients.

import { isJson } from '../../base/text/json.ts'
import type { Group, GroupKey, Sum } from '../../ai-logs/sums.ts'
import type { ActingApp, LogEntry, LogSummary, Payload } from '../../store/records/records.ts'
import type { ApiResponse } from '../http/envelope.ts'
import { isoTime } from '../records/record-handlers.ts'

/** Shows an entry as lists do. */
export function viewSummary(entry: LogSummary) {
  return {
    id: entry.id,
    created_at: isoTime(entry.createdAt),
    provider: entry.provider,
    model: entry.model,
    path: entry.path,
    status_code: entry.status,
    success: entry.success,
    error: entry.error,
    duration: entry.duration,
    time_to_first_byte: entry.timeToFirstByte,
    tokens_in: entry.tokensIn,
    tokens_out: entry.tokensOut,
    ...(entry.usageIsEstimated && { usage_estimated: true }),
    cost: entry.cost,
    cached: entry.cached,
    authentication: entry.authenticated,
    token_id: entry.tokenId ?? null,
    token_name: entry.tokenName ?? null,
    ...(entry.app && viewApp(entry.app)),
    streamed: entry.streamed,
    ...(entry.dropped && { dropped: entry.dropped }),
    metadata: entry.metadata && JSON.stringify(entry.metadata),
    request_content_type: entry.requestContentType,
    response_content_type: entry.responseContentType,
  }
}

function viewApp({ user, email, isEmailVerified = false, client, clientName }: ActingApp) {
  return {
    user_id: user,
    user_email: email,
    user_email_verified: isEmailVerified,
    client_id: client,
    client_name: clientName,
  }
}

/** Orders groups: the most expensive first, and of those that cost the same the largest. */
export function dearestFirst(a: Group, b: Group): number {
  return b.cost - a.cost || b.count - a.count
}

/** Shows what a group has in common, and its sums. */
export function viewGroup(group: Group) {
  return { ...viewKey(group.key), ...viewSum(group) }
}

export function viewSum({ count, tokensIn, tokensOut, cost, withoutCost }: Sum) {
  const rounded = Math.round(cost * 1e12) / 1e12
  return {
    count,
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    cost: rounded,
    count_without_cost: withoutCost,
  }
}

function viewKey({ token, model, provider, day }: GroupKey) {
  return {
    ...(token !== undefined && { token_id: token.id, token_name: token.name }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(day !== undefined && { day }),
  }
}

/** Shows all of an entry; the bodies as far as they were kept, and whether that is all of them. */
export function viewEntry(entry: LogEntry) {
  return {
    ...viewSummary(entry),
    ...viewPayload('request', entry.request),
    ...viewPayload('response', entry.response),
    ...viewPayload('provider_response', entry.providerResponse),
  }
}

function viewPayload(name: string, payload: Payload | null) {
  if (payload === null) return {}
  const { text, isCut, isBase64 } = payload
  return {
    [`${name}_head`]: text,
    [`${name}_head_complete`]: !isCut,
    ...(isBase64 && { [`${name}_head_encoding`]: 'base64' }),
  }
}

/**
 * Responds with a body as it was kept. It was written by callers and providers, so it is shown as JSON only where it is that, and else as plain text: nothing
 * that a browser would run. What is no text is base64, and a field says so.
 */
export function showPayload({ text, isCut, isBase64 }: Payload): ApiResponse {
  if (isBase64)
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'svc-body-encoding': 'base64' },
      body: text,
    }
  const type = !isCut && isJson(text) ? 'application/json' : 'text/plain; charset=utf-8'
  return { status: 200, headers: { 'content-type': type }, body: text }
}
