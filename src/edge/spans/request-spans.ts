// The spans of a request and its attempts, by OpenTelemetry's semantic conventions for HTTP and generative
// AI. They contain no headers, query or body.

import { withoutQuery } from '../../base/path/path.ts'
import { errorRows } from '../../errors/catalogue/catalogue.ts'
import { decodedExcerptOf } from '../../ai-logs/entry.ts'
import { sumOf } from '../../ai/usage/session.ts'
import { usageOf } from '../../ai/usage/usage.ts'
import type { LedgerAttempt } from '../../store/records/records.ts'
import type { Attributes, AttributeValue, Span } from '../../telemetry/span.ts'
import { holdsOurs } from '../../tokens/misplaced-tokens.ts'
import { redacted } from '../../tokens/redaction.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Tap } from '../ai-call/tap.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AttemptRecord, Recording } from '../trace/recording.ts'
import type { Trace } from '../trace/trace.ts'

/** Those of an AI call are sent after its usage is read from the response. */
export function sendSpans(x: Exchange, trace: Trace, recording: Recording, now: number): void {
  const { plane, ai, tap } = x
  // One offset for all times of a request, so that they keep their order.
  const shift = plane.clock.now() - plane.clock.monotonic()
  const wall = (at: number) => at + shift
  const spans = (callAttributes: Attributes) => [
    requestSpan(x, trace, recording, { now, wall }),
    ...recording.attempts.map((attempt, i) =>
      attemptSpan(x, trace, recording, { attempt, i, now, wall, callAttributes: callAttributes }),
    ),
  ]
  if (ai === null || ai.provider === null || tap === null) return plane.spans!.take(spans(noAttributes))
  readCallAttributes(ai, tap, x.refusal === null && !x.aborted).then(
    callAttributes => plane.spans!.take(spans(callAttributes)),
    bug => plane.log.error({ err: bug, ray: x.ray }, 'reading the use of a call failed: internal error'),
  )
}

const noAttributes: Attributes = {}

interface Times {
  readonly now: number
  readonly wall: (at: number) => number
}

function requestSpan(x: Exchange, trace: Trace, recording: Recording, { now, wall }: Times): Span {
  const { step, admittedAt, callAttemptTimes } = recording
  const { head, status, refusal, client } = x
  const method = methodOf(head.method)
  const route = x.zone === null ? null : (x.route?.config.path ?? null)
  const code = refusal === null || x.isPreview ? null : errorRows[refusal.error].code
  const isFailed = !x.isPreview && (status >= 500 || (status === 0 && !x.aborted))
  const event = (name: string, at: number, attributes?: Attributes) => ({
    name,
    at: wall(at),
    ...(attributes && { attributes }),
  })
  return {
    ...inTrace(trace),
    spanId: trace.spanId,
    parentId: trace.parentId,
    isParentRemote: true,
    kind: 'server',
    name: route === null ? method : `${method} ${route}`,
    start: wall(x.startedAt),
    end: wall(now),
    isError: isFailed,
    attributes: withoutNulls({
      'http.request.method': method,
      'http.request.method_original':
        method === other && !holdsOurs(head.method) ? head.method.slice(0, 32) : null,
      'http.response.status_code': status || null,
      'http.route': route,
      'url.scheme': x.scheme,
      'url.path': holdsOurs(head.target) ? null : pathOf(head.target),
      'server.address': x.host || null,
      'client.address': x.clientAddress,
      'network.peer.address': client.peer,
      'network.protocol.name': 'http',
      'network.protocol.version': head.version,
      'tls.protocol.version': client.tls === null ? null : client.tls.version.replace('TLSv', ''),
      'error.type': code === null ? (isFailed ? String(status || other) : null) : String(code),
      'gatehouse.zone': x.zone?.config.name ?? (x.audience.kind === 'ai' ? 'ai' : null),
      'gatehouse.ray': x.ray,
      'gatehouse.error': refusal === null || x.isPreview ? null : refusal.error,
      'gatehouse.preview': x.isPreview || null,
      'gatehouse.retries': x.retries || null,
      'gatehouse.client_left': x.aborted || null,
    }),
    events: [
      event('request.received', x.startedAt),
      ...(admittedAt === 0
        ? [event('request.refused', now, withoutNulls({ 'gatehouse.step': step }))]
        : [event('request.admitted', admittedAt)]),
      ...(x.sentAt === 0 ? [] : [event('origin.connected', x.sentAt)]),
      ...callAttemptTimes.map((at, i) => event('attempt.ended', at, attributesOf(x.ai!.attempts[i]!))),
      ...(x.respondedAt === 0 ? [] : [event('response.first_byte', x.respondedAt)]),
      event('request.ended', now),
    ].toSorted((a, b) => a.at - b.at),
  }
}

function attributesOf({ provider, model, outcome }: LedgerAttempt): Attributes {
  return withoutNulls({
    'gen_ai.provider.name': providers[provider] ?? provider,
    'gen_ai.request.model': model && redacted(model),
    'gatehouse.ai.outcome': outcome,
  })
}

interface AttemptParts extends Times {
  readonly attempt: AttemptRecord
  readonly i: number
  readonly callAttributes: Attributes
}

function attemptSpan(x: Exchange, trace: Trace, { attempts }: Recording, parts: AttemptParts): Span {
  const { attempt, i, now, wall, callAttributes } = parts
  const isLast = i === attempts.length - 1
  const { url, host, port } = attempt.origin
  const status = attempt.status || (isLast && x.respondedAt !== 0 && attempt.error === null ? x.status : 0)
  const refusal = isLast && attempt.status === 0 && !x.isPreview ? x.refusal : null
  const error = attempt.error ?? refusal?.error ?? null
  const method = methodOf(x.outgoing.method)
  const operation = callAttributes['gen_ai.operation.name']
  const model = callAttributes['gen_ai.request.model']
  return {
    ...inTrace(trace),
    spanId: attempt.spanId,
    parentId: trace.spanId,
    isParentRemote: false,
    kind: 'client',
    name: operation === undefined ? method : `${operation}${model === undefined ? '' : ` ${model}`}`,
    start: wall(attempt.start),
    end: wall(attempt.end || now),
    isError: error !== null || status >= 400,
    attributes: {
      ...withoutNulls({
        'http.request.method': method,
        'http.request.resend_count': i || null,
        'http.response.status_code': status || null,
        'url.full': `${url}${pathOf(x.ai === null ? x.outgoing.target : x.ai.path)}`,
        'server.address': host,
        'server.port': port,
        'error.type':
          error === null ? (status >= 400 ? String(status) : null) : String(errorRows[error].code),
      }),
      ...(isLast ? callAttributes : noAttributes),
    },
    events: [],
  }
}

/** Returns model, operation, and usage as far as the response reports it. */
async function readCallAttributes(ai: AiExchange, tap: Tap, isWhole: boolean): Promise<Attributes> {
  const { head } = tap
  const excerpt = await decodedExcerptOf(tap.response, head?.contentEncoding ?? null)
  const usage =
    tap.session !== null
      ? { ...sumOf(tap.session.responses), model: tap.session.model }
      : excerpt === null || excerpt.isEncoded
        ? null
        : usageOf({
            ...excerpt,
            isEventStream: head?.isEventStream ?? false,
            isWhole: isWhole && excerpt.hasEnd,
          })
  return withoutNulls({
    'gen_ai.operation.name': operationOf(ai),
    'gen_ai.provider.name': providers[ai.provider!.name] ?? ai.provider!.name,
    'gen_ai.request.model': ai.model && redacted(ai.model),
    'gen_ai.response.model': usage?.model ? redacted(usage.model) : null,
    'gen_ai.usage.input_tokens': usage?.tokensIn ?? null,
    'gen_ai.usage.output_tokens': usage?.tokensOut ?? null,
    'gen_ai.usage.cache_read.input_tokens': usage?.cacheRead || null,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWritten || null,
    'gatehouse.ai.gateway': ai.gateway?.id ?? null,
  })
}

const providers: Readonly<Record<string, string>> = {
  'google-ai-studio': 'gcp.gemini',
  mistral: 'mistral_ai',
  'azure-openai': 'azure.ai.openai',
  'google-vertex-ai': 'gcp.vertex_ai',
  'aws-bedrock': 'aws.bedrock',
}

/** By its path, whatever its API; null if unknown. */
function operationOf({ path }: AiExchange): string | null {
  const providerPath = withoutQuery(path)
  for (const [end, operation] of operations) if (end.test(providerPath)) return operation
  return null
}

const operations: readonly (readonly [RegExp, string])[] = [
  [/\/(chat\/completions|messages|responses|api\/chat)$/, 'chat'],
  [/\/(embeddings|api\/embed(dings)?)$|:(batch)?embedContents?$/i, 'embeddings'],
  [/:(stream)?generateContent$/i, 'generate_content'],
  [/\/(completions|api\/generate)$/, 'text_completion'],
]

/** RFC 9110 section 9 and RFC 5789. */
const methods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
])
const other = '_OTHER'

function methodOf(method: string): string {
  return methods.has(method) ? method : other
}

function pathOf(target: string): string {
  return withoutQuery(target).slice(0, maxPathLength)
}

const maxPathLength = 1024

function inTrace({ traceId, flags, state }: Trace): Pick<Span, 'traceId' | 'flags' | 'state'> {
  return { traceId, flags, state }
}

function withoutNulls(values: Readonly<Record<string, AttributeValue | null>>): Attributes {
  const present: Record<string, AttributeValue> = {}
  for (const name in values) {
    const value = values[name]
    if (value != null) present[name] = value
  }
  return present
}
