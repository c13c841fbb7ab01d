// A log entry as a JSON array, without its key and bodies: short, and quick to write and to search.

import type {
  Feedback,
  GuardFinding,
  LedgerAttempt,
  LogSummary,
  Metadata,
  SavedUse,
} from '../records/records.ts'

/** The members of a row, in order. */
export const rowMembers = [
  'provider',
  'model',
  'path',
  'status',
  'success',
  'cached',
  'authenticated',
  'streamed',
  'error',
  'duration',
  'time_to_first_byte',
  'tokens_in',
  'tokens_out',
  'usage_is_estimated',
  'cost',
  'token_id',
  'token_name',
  'user_id',
  'email',
  'email_is_verified',
  'client_id',
  'metadata_json',
  'metadata',
  'request_content_type',
  'response_content_type',
  'dropped',
  'attempts',
  'step',
  'event_id',
  'has_custom_cost',
  'feedback',
  'score',
  'findings',
  'saved',
] as const

/** Members of all rows; those behind them are left out from the last one on that is null. */
const always = rowMembers.indexOf('dropped')

type LogRow = [
  provider: string,
  model: string | null,
  path: string,
  status: number,
  success: boolean,
  cached: boolean,
  authenticated: boolean,
  streamed: boolean,
  error: string | null,
  duration: number,
  timeToFirstByte: number | null,
  tokensIn: number | null,
  tokensOut: number | null,
  usageIsEstimated: boolean,
  cost: number | null,
  tokenId: string | null,
  tokenName: string | null,
  user: string | null,
  email: string | null,
  isEmailVerified: boolean,
  client: string | null,
  metadata: Metadata | null,
  /** What is searched. */
  metadataText: string | null,
  requestContentType: string | null,
  responseContentType: string | null,
  dropped?: readonly string[] | null,
  attempts?: readonly AttemptRow[] | null,
  step?: number | null,
  eventId?: string | null,
  hasCustomCost?: true | null,
  feedback?: Feedback | null,
  score?: number | null,
  findings?: readonly GuardFinding[] | null,
  saved?: SavedRow | null,
]

type SavedRow = readonly [tokensIn: number | null, tokensOut: number | null, cost: number | null]

type AttemptRow = readonly [provider: string, model: string | null, outcome: string, duration: number]

/** Where an entry belongs. */
type Place = Pick<LogSummary, 'account' | 'gateway' | 'createdAt' | 'id'>

export function rowOf(e: LogSummary): string {
  const { app, metadata } = e
  const row: LogRow = [
    e.provider,
    e.model,
    e.path,
    e.status,
    e.success,
    e.cached,
    e.authenticated,
    e.streamed,
    e.error,
    e.duration,
    e.timeToFirstByte,
    e.tokensIn,
    e.tokensOut,
    e.usageIsEstimated ?? false,
    e.cost,
    e.tokenId,
    e.tokenName,
    app?.user ?? null,
    app?.email ?? null,
    app?.isEmailVerified ?? false,
    app?.client ?? null,
    metadata,
    metadata && metadataText(metadata),
    e.requestContentType,
    e.responseContentType,
    e.dropped ?? null,
    e.attempts?.map(({ provider, model, outcome, duration }) => [provider, model, outcome, duration]) ?? null,
    e.step ?? null,
    e.eventId ?? null,
    e.hasCustomCost ?? null,
    e.feedback ?? null,
    e.score ?? null,
    e.findings ?? null,
    e.saved === undefined ? null : [e.saved.tokensIn, e.saved.tokensOut, e.saved.cost],
  ]
  const members: unknown[] = row
  while (members.length > always && members.at(-1) === null) members.pop()
  return JSON.stringify(members)
}

export function summaryOf(text: string, place: Place): LogSummary {
  const [
    provider,
    model,
    path,
    status,
    success,
    cached,
    authenticated,
    streamed,
    error,
    duration,
    timeToFirstByte,
    tokensIn,
    tokensOut,
    usageIsEstimated,
    cost,
    tokenId,
    tokenName,
    user,
    email,
    isEmailVerified,
    client,
    metadata,
    ,
    requestContentType,
    responseContentType,
    dropped,
    attempts,
    step,
    eventId,
    hasCustomCost,
    feedback = null,
    score = null,
    findings = null,
    saved = null,
  ]: LogRow = JSON.parse(text)
  return {
    id: place.id,
    account: place.account,
    gateway: place.gateway,
    createdAt: place.createdAt,
    provider,
    model,
    path,
    status,
    success,
    error,
    duration,
    timeToFirstByte,
    tokensIn,
    tokensOut,
    ...(usageIsEstimated && { usageIsEstimated }),
    cost,
    cached,
    authenticated,
    tokenId,
    tokenName,
    streamed,
    metadata,
    requestContentType,
    responseContentType,
    ...(dropped && { dropped }),
    ...(attempts && { attempts: attempts.map(attemptOf) }),
    ...(step && { step }),
    ...(eventId && { eventId }),
    ...(hasCustomCost && { hasCustomCost }),
    ...(feedback !== null && { feedback }),
    ...(score !== null && { score }),
    ...(findings !== null && { findings }),
    ...(saved !== null && { saved: savedOf(saved) }),
    ...(user !== null && {
      // The app is named once, as the token.
      app: {
        user,
        email: email!,
        ...(isEmailVerified && { isEmailVerified }),
        client: client!,
        clientName: tokenName!,
      },
    }),
  }
}

function attemptOf([provider, model, outcome, duration]: AttemptRow): LedgerAttempt {
  return { provider, model, outcome, duration }
}

function savedOf([tokensIn, tokensOut, cost]: SavedRow): SavedUse {
  return { tokensIn, tokensOut, cost }
}

/** Returns the text of metadata that is searched. */
export function metadataText(metadata: Metadata): string {
  return Object.entries(metadata).flat().map(String).join(' ')
}
