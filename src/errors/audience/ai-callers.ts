// Composes responses to refused calls of AI routes. Their callers are mostly SDKs, which look for reasons and retry advice in places of their own.

import { apiFaults } from '../catalogue/api-faults.ts'
import { errorRows } from '../catalogue/catalogue.ts'
import { type ErrorResponse, forms, type Options, pageOf } from './people.ts'
import { type Form, form, render } from '../render/render.ts'
import { type Content, headersOf, linesOf, reasonOf } from './response-head.ts'
import { type Format, negotiateForPrograms } from './negotiate.ts'
import type { Occasion, Problem } from '../catalogue/problem.ts'
import { type Fault, type Refusal, retryAfterOf } from '../catalogue/refusal.ts'
import { asciiJson } from '../render/json.ts'

export interface AiCaller {
  /** Whose envelope reports that a call has no valid token: that of the management API, or that of provider-native routes. */
  readonly api: 'rest' | 'native'
  /** The dialect in which the caller expects an error within a stream. */
  readonly dialect: StreamDialect
}

/** The APIs whose streams report an error in a form of their own: Chat Completions and what is like it, Messages, Responses. */
export type StreamDialect = 'openai' | 'anthropic' | 'responses'

/** Composes the response to a call that was refused, in the format that it accepts: the record, or an envelope where the call has faults and its caller is a program. */
export function composeForAi(
  refusal: Refusal,
  occasion: Occasion,
  options: Options & { readonly challenge?: string | null },
  caller: AiCaller,
): ErrorResponse {
  const content = isInEnvelope(refusal, occasion.accept)
    ? envelopeOf(refusal, caller)
    : recordOf(inWords(refusal), occasion, options, caller)
  const { status } = errorRows[refusal.error]
  const headers = headersOf(refusal, occasion, content)
  // The SDKs of OpenAI and Anthropic follow it, whatever the status.
  headers.push('x-should-retry', String(refusal.mayRetry ?? retryAfterOf(refusal) !== null))
  const challenge = options.challenge ?? (status === 401 ? 'Bearer' : null)
  if (challenge !== null) headers.push('WWW-Authenticate', challenge)
  return { status, reason: reasonOf(refusal), headers, body: content.body }
}

/** Whether a refused call gets an envelope: one with faults, unless it asks for a page, Markdown or plain text. What callers without permission get is the same in any format. */
export function isInEnvelope({ faults, error }: Refusal, accept: string | null): boolean {
  if (faults.length === 0) return false
  if (error === 'unauthorized' || error === 'forbidden') return true
  const format = negotiateForPrograms(accept)
  return format === 'json' || format === 'problem'
}

/** Has the record say what is wrong with the call. Pages are ASCII, and faults quote their caller. */
function inWords(refusal: Refusal): Refusal {
  if (refusal.faults.length === 0 || refusal.wording !== null) return refusal
  const guidance = retryAfterOf(refusal) === null ? correction : errorRows[refusal.error].guidance
  const sentences = refusal.faults.map(
    ({ message }) => `${asciiJson(message).slice(1, -1).replaceAll('\\"', '"')}.`,
  )
  const wording = {
    heading: 'The call was refused',
    detail: sentences.join(' '),
    guidance,
    isOfRequest: true,
  }
  return { ...refusal, wording }
}

const correction = '**Do not retry.** The call is refused until what is wrong with it is corrected.'

/** The response to calls that have the same fault: it differs by the ray alone. */
interface SharedResponse {
  readonly status: number
  readonly reason: string
  /** The field lines, up to the ray and behind it. */
  readonly beforeRay: string
  readonly afterRay: string
  readonly body: string
}

/** What a shared response was last composed of. */
interface Shared extends AiCaller {
  readonly refusal: Refusal
  readonly challenge: string | null
  readonly response: SharedResponse
}

let shared: Shared | null = null

/** Composes the response to a call with faults as `composeForAi` does, but once for a flood of them. */
export function composeShared(
  refusal: Refusal,
  challenge: string | null,
  { api, dialect }: AiCaller,
): SharedResponse {
  if (
    shared?.refusal === refusal &&
    shared.challenge === challenge &&
    shared.api === api &&
    shared.dialect === dialect
  )
    return shared.response
  const caller = { api, dialect }
  const composed = composeForAi(refusal, sampleOccasion, { documentation: '', challenge }, caller)
  const [beforeRay, afterRay] = linesOf(composed.headers).split(sampleOccasion.ray) as [string, string]
  const response = {
    status: composed.status,
    reason: composed.reason,
    beforeRay,
    afterRay,
    body: composed.body,
  }
  shared = { refusal, challenge, api, dialect, response }
  return response
}

const sampleOccasion: Occasion = { ray: '\0', zone: '', accept: null, time: 0 }

/** Composes the last event of a stream whose head has already been sent, starting at the beginning of a line, in the dialect of the caller. */
export function composeEventForAi(
  refusal: Refusal,
  occasion: Occasion,
  { documentation }: Pick<Options, 'documentation'>,
  { dialect }: AiCaller,
): string {
  return render(events[dialect], refusal, occasion, documentation)
}

function recordOf(
  refusal: Refusal,
  occasion: Occasion,
  { documentation, operator }: Options,
  { dialect }: AiCaller,
): Content {
  const format = negotiateForPrograms(occasion.accept)
  const form = format === 'html' ? pageOf(operator) : recordForms[dialect][format]
  const { type, policy } = form
  return { type, policy, body: render(form, refusal, occasion, documentation) }
}

const openAiForms: Readonly<Record<Format, Form>> = {
  ...forms,
  json: form(forms.json.type, writeRecord),
  problem: form(forms.problem.type, writeRecord),
}

const recordForms: Readonly<Record<AiCaller['dialect'], Readonly<Record<Format, Form>>>> = {
  openai: openAiForms,
  anthropic: { ...openAiForms, json: form(forms.json.type, writeMessagesRecord) },
  responses: openAiForms,
}

const events: Readonly<Record<AiCaller['dialect'], Form>> = {
  openai: form('text/event-stream', writeOpenAiEvent),
  anthropic: form('text/event-stream', writeAnthropicEvent),
  responses: form('text/event-stream', writeResponsesEvent),
}

function writeRecord(problem: Problem): string {
  return asciiJson({ ...problem, message: problem.detail, error: errorOf(problem) })
}

/** Replaces the record's own type with the one that readers of Messages expect; `application/problem+json` keeps it. */
function writeMessagesRecord(problem: Problem): string {
  return asciiJson({ ...problem, type: 'error', message: problem.detail, error: errorOf(problem) })
}

function writeOpenAiEvent(problem: Problem): string {
  return `data: ${asciiJson({ error: errorOf(problem), ...problem })}\n\n`
}

/** Omits the type of the record, since the event has its own. */
function writeAnthropicEvent({ type: _, ...rest }: Problem): string {
  const error = { type: rest.error_name, message: rest.detail }
  return `event: error\ndata: ${asciiJson({ type: 'error', error, ...rest })}\n\n`
}

/** Fails the response, which is the only event that Codex takes a reason from; `error` is where the SDK of OpenAI looks. The type of the record gives way to that of the event. */
function writeResponsesEvent({ type: _, ...rest }: Problem): string {
  const error = { code: 'server_error', message: rest.detail }
  const response = { id: `resp_${rest.ray_id}`, object: 'response', status: 'failed', error, output: [] }
  const event = { type: 'response.failed', sequence_number: 0, response, error: errorOf(rest) }
  return `event: response.failed\ndata: ${asciiJson({ ...event, ...rest })}\n\n`
}

function errorOf({ detail, error_name, error_code }: Omit<Problem, 'type'>): unknown {
  return { message: detail, type: error_name, code: error_code }
}

function envelopeOf(refusal: Refusal, { api, dialect }: AiCaller): Content {
  const faults = refusal.faults.map(writeFault)
  const isOfGateway = api === 'native' && refusal.faults[0]!.code === apiFaults.native_unauthorized.code
  const envelope = isOfGateway ? gatewayEnvelope(refusal, faults) : envelopeForSdk(refusal, faults, dialect)
  return { type: 'application/json', policy: null, body: asciiJson(envelope) }
}

/** Beside the faults, SDKs find the reason where providers write it. */
function envelopeForSdk(
  { error, faults }: Refusal,
  errors: readonly unknown[],
  dialect: AiCaller['dialect'],
): unknown {
  const message = faults.map(fault => fault.message).join('; ')
  const { code } = errorRows[error]
  return {
    ...(dialect === 'anthropic' && { type: 'error' }),
    success: false,
    errors,
    messages: [],
    result: null,
    message,
    error: { message, type: error, code },
  }
}

/** What callers of provider-native routes get without a valid token, or without permission. */
function gatewayEnvelope({ faults }: Refusal, error: readonly unknown[]): unknown {
  return {
    success: false,
    result: [],
    messages: [],
    error,
    name: 'AiGatewayError',
    internalCode: faults[0]!.code,
  }
}

function writeFault({ code, message, pointer }: Fault): unknown {
  return pointer === null ? { code, message } : { code, message, source: { pointer } }
}
