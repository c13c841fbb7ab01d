// The management API's view of the log entry of an AI call, in the shape of its published clients.

import { isJson } from '../../base/text/json.ts'
import type { Dimension, Group } from '../../ai-logs/sums.ts'
import type { CallSum } from '../../store/log-sums/call-sum.ts'
import type { ActingApp, LogEntry, LogSummary, Payload, SavedUse } from '../../store/records/records.ts'
import type { ApiResponse } from '../http/envelope.ts'
import { isoTime } from '../records/record-handlers.ts'

/** Shows an entry as in lists. */
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
    ...(entry.hasCustomCost && { custom_cost: true }),
    ...(entry.attempts && { attempts: entry.attempts, step: entry.step ?? 0 }),
    ...(entry.eventId && { event_id: entry.eventId }),
    ...(entry.feedback !== undefined && { feedback: entry.feedback }),
    ...(entry.score !== undefined && { score: entry.score }),
    cached: entry.cached,
    ...(entry.saved && viewSaved(entry.saved)),
    authentication: entry.authenticated,
    token_id: entry.tokenId ?? null,
    token_name: entry.tokenName ?? null,
    ...(entry.app && viewApp(entry.app)),
    streamed: entry.streamed,
    ...(entry.dropped && { dropped: entry.dropped }),
    ...(entry.findings && { findings: entry.findings }),
    metadata: entry.metadata && JSON.stringify(entry.metadata),
    request_content_type: entry.requestContentType,
    response_content_type: entry.responseContentType,
  }
}

function viewSaved({ tokensIn, tokensOut, cost }: SavedUse) {
  return { saved_tokens_in: tokensIn, saved_tokens_out: tokensOut, saved_cost: cost }
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

/** Orders groups: the most expensive first, and of those with equal cost the largest. */
export function dearestFirst({ sum: a }: Group, { sum: b }: Group): number {
  return b.cost - a.cost || b.count - a.count
}

/** Returns a view of groups: their common properties, and their sums. */
export function groupView(groupBy: readonly Dimension[]) {
  return ({ kind, day, sum }: Group) => ({
    ...(groupBy.includes('token') && { token_id: kind.tokenId, token_name: kind.tokenName }),
    ...(groupBy.includes('model') && { model: kind.model }),
    ...(groupBy.includes('provider') && { provider: kind.provider }),
    ...(day !== null && { day: new Date(day).toISOString().slice(0, 10) }),
    ...viewSum(sum),
  })
}

/** Rounds cost to the precision of entries, which sums of floating-point numbers exceed. */
export function viewSum(sum: CallSum) {
  const { savings } = sum
  return {
    count: sum.count,
    tokens_in: sum.tokensIn,
    tokens_out: sum.tokensOut,
    cost: roundCost(sum.cost),
    count_without_cost: sum.withoutCost,
    count_cached: savings.reused,
    saved_tokens_in: savings.tokensIn,
    saved_tokens_out: savings.tokensOut,
    saved_cost: roundCost(savings.cost),
  }
}

function roundCost(cost: number): number {
  return Math.round(cost * 1e12) / 1e12
}

/** Shows all of an entry; the bodies as far as they were stored, and whether that is all of them. */
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
 * Responds with a stored body. It comes from callers and providers, so it is shown as JSON only if it is
 * valid, and else as plain text: nothing that a browser would run. Binary data is base64, which a field says.
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
