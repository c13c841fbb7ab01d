// The lines of the export. Their members are stable: docs/log-export.schema.json describes each.

import type { LogEntry, LogSummary, Payload } from '../store/records/records.ts'

/** Raised when a member changes its meaning or goes; new ones may come at any time. */
const schema = 1

/** Where a management request changed something, and when, in ms since the epoch. */
interface Occasion {
  readonly ray: string
  readonly account: string
  readonly now: number
}

export function callLine(entry: LogSummary & Partial<LogEntry>): string {
  const { app } = entry
  return JSON.stringify({
    schema,
    event: 'ai_call',
    id: entry.id,
    created_at: isoTime(entry.createdAt),
    account_id: entry.account,
    gateway_id: entry.gateway,
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
    usage_estimated: entry.usageIsEstimated ?? false,
    cost: entry.cost,
    custom_cost: entry.hasCustomCost ?? false,
    attempts: entry.attempts ?? [],
    step: entry.step ?? 0,
    event_id: entry.eventId ?? null,
    cached: entry.cached,
    saved_tokens_in: entry.saved?.tokensIn ?? null,
    saved_tokens_out: entry.saved?.tokensOut ?? null,
    saved_cost: entry.saved?.cost ?? null,
    authentication: entry.authenticated,
    token_id: entry.tokenId ?? null,
    token_name: entry.tokenName ?? null,
    user_id: app?.user ?? null,
    user_email: app?.email ?? null,
    user_email_verified: app?.isEmailVerified ?? false,
    client_id: app?.client ?? null,
    client_name: app?.clientName ?? null,
    streamed: entry.streamed,
    dropped: entry.dropped ?? [],
    findings: entry.findings ?? [],
    metadata: entry.metadata ?? {},
    request_content_type: entry.requestContentType,
    response_content_type: entry.responseContentType,
    ...payload('request', entry.request),
    ...payload('response', entry.response),
    ...payload('provider_response', entry.providerResponse),
  })
}

/** What people said about a call afterwards, all of it. */
export function editLine({ ray, account, now }: Occasion, entry: LogSummary): string {
  return JSON.stringify({
    schema,
    event: 'ai_call_edited',
    id: ray,
    created_at: isoTime(now),
    account_id: account,
    gateway_id: entry.gateway,
    call_id: entry.id,
    feedback: entry.feedback ?? null,
    score: entry.score ?? null,
    metadata: entry.metadata ?? {},
  })
}

export function deletionLine({ ray, account, now }: Occasion, gateway: string): string {
  return JSON.stringify({
    schema,
    event: 'gateway_deleted',
    id: ray,
    created_at: isoTime(now),
    account_id: account,
    gateway_id: gateway,
  })
}

function payload(name: string, body: Payload | null | undefined) {
  if (body === undefined || body === null) return {}
  const { text, isCut, isBase64 = false } = body
  return { [name]: text, [`${name}_complete`]: !isCut, [`${name}_base64`]: isBase64 }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
