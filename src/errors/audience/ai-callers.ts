// Errors for callers of AI routes: mostly SDKs, which look for reasons and retry advice in their own places.

import { apiFaults } from '../catalogue/api-faults.ts'
import { errorRows } from '../catalogue/catalogue.ts'
import { type Audience, type ErrorResponse, type Options, type WrittenResponse, written } from './audience.ts'
import { forms, pageOf } from './people.ts'
import { type Form, form, render } from '../render/render.ts'
import { type Content, headersOf, reasonOf } from './response-head.ts'
import { type Format, negotiateForPrograms } from './negotiate.ts'
import type { Occasion, Problem } from '../catalogue/problem.ts'
import { type Fault, type Refusal, retryAfterOf } from '../catalogue/refusal.ts'
import { asciiJson } from '../render/json.ts'

/** Whose envelope reports a missing token: the management API, or provider-native routes. */
type AiApi = 'rest' | 'native'

/** The forms of errors in streams: Chat Completions and similar, Messages, Responses. */
export type StreamDialect = 'openai' | 'anthropic' | 'responses'

/** The callers of one kind of AI route, with the dialect in which they expect an error within a stream. */
export class AiCallers implements Audience {
  readonly kind = 'ai'
  readonly formatOf = negotiateForPrograms
  readonly numbersEvents: boolean
  readonly #api: AiApi
  readonly #dialect: StreamDialect
  /** The last response to a call with faults: in a flood, these differ by the ray alone. */
  #shared: Shared | null = null

  constructor(api: AiApi, dialect: StreamDialect) {
    this.#api = api
    this.#dialect = dialect
    this.numbersEvents = dialect === 'responses'
  }

  /** Composes the record, or an envelope if the call has faults and its caller is a program. */
  compose(refusal: Refusal, occasion: Occasion, options: Options): WrittenResponse {
    if (isInEnvelope(refusal, occasion.accept)) return this.#composeShared(refusal, occasion.ray, options)
    const content = this.#record(inWords(refusal), occasion, options)
    return written(responseOf(refusal, occasion, content, options))
  }

  composeEvent(refusal: Refusal, occasion: Occasion, { documentation }: Options): string {
    const event = render(events[this.#dialect], refusal, occasion, documentation)
    const { sequence = 0 } = occasion
    return sequence === 0 ? event : event.replace(firstNumber, `"sequence_number":${sequence}`)
  }

  composeTrailers(): null {
    return null
  }

  #composeShared(refusal: Refusal, ray: string, { challenge = null }: Options): WrittenResponse {
    if (this.#shared?.refusal !== refusal || this.#shared.challenge !== challenge) {
      const content = envelopeOf(refusal, this.#api, this.#dialect)
      const composed = written(responseOf(refusal, sampleOccasion, content, { challenge }))
      const [beforeRay, afterRay] = composed.lines.split(sampleOccasion.ray) as [string, string]
      this.#shared = { refusal, challenge, composed, beforeRay, afterRay }
    }
    const { composed, beforeRay, afterRay } = this.#shared
    const { status, reason, body } = composed
    return { status, reason, lines: `${beforeRay}${ray}${afterRay}`, body }
  }

  #record(refusal: Refusal, occasion: Occasion, { documentation, operator }: Options): Content {
    const format = negotiateForPrograms(occasion.accept)
    const form = format === 'html' ? pageOf(operator) : recordForms[this.#dialect][format]
    const { type, policy } = form
    return { type, policy, body: render(form, refusal, occasion, documentation) }
  }
}

const audiences: Readonly<Record<AiApi, Readonly<Record<StreamDialect, AiCallers>>>> = {
  rest: {
    openai: new AiCallers('rest', 'openai'),
    anthropic: new AiCallers('rest', 'anthropic'),
    responses: new AiCallers('rest', 'responses'),
  },
  native: {
    openai: new AiCallers('native', 'openai'),
    anthropic: new AiCallers('native', 'anthropic'),
    responses: new AiCallers('native', 'responses'),
  },
}

export function aiCallers(api: AiApi, dialect: StreamDialect): AiCallers {
  return audiences[api][dialect]
}

/** A response that is shared by calls with the same fault. */
interface Shared {
  readonly refusal: Refusal
  readonly challenge: string | null
  readonly composed: WrittenResponse
  /** Its field lines, up to the ray and behind it. */
  readonly beforeRay: string
  readonly afterRay: string
}

const sampleOccasion: Occasion = { ray: '\0', zone: '', accept: null, time: 0 }

function responseOf(
  refusal: Refusal,
  occasion: Occasion,
  content: Content,
  { challenge }: Pick<Options, 'challenge'>,
): ErrorResponse {
  const { status } = errorRows[refusal.error]
  const headers = headersOf(refusal, occasion, content)
  // The SDKs of OpenAI and Anthropic obey it, whatever the status.
  headers.push('x-should-retry', String(refusal.mayRetry ?? retryAfterOf(refusal) !== null))
  const challenges = challenge ?? (status === 401 ? 'Bearer' : null)
  if (challenges !== null) headers.push('WWW-Authenticate', challenges)
  return { status, reason: reasonOf(refusal), headers, body: content.body }
}

/** Callers without permission get the same in any format. */
function isInEnvelope({ faults, error }: Refusal, accept: string | null): boolean {
  if (faults.length === 0) return false
  if (error === 'unauthorized' || error === 'forbidden') return true
  const format = negotiateForPrograms(accept)
  return format === 'json' || format === 'problem'
}

/** Adds the faults of the call to the record. Pages are ASCII, and faults quote their caller. */
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

const openAiForms: Readonly<Record<Format, Form>> = {
  ...forms,
  json: form(forms.json.type, writeRecord),
  problem: form(forms.problem.type, writeRecord),
}

const recordForms: Readonly<Record<StreamDialect, Readonly<Record<Format, Form>>>> = {
  openai: openAiForms,
  anthropic: { ...openAiForms, json: form(forms.json.type, writeMessagesRecord) },
  responses: openAiForms,
}

const events: Readonly<Record<StreamDialect, Form>> = {
  openai: form('text/event-stream', writeOpenAiEvent),
  anthropic: form('text/event-stream', writeAnthropicEvent),
  responses: form('text/event-stream', writeResponsesEvent),
}

function writeRecord(problem: Problem): string {
  return asciiJson({ ...problem, message: problem.detail, error: errorOf(problem) })
}

/** Messages has a type of its own; `application/problem+json` keeps the record's. */
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

/** In every event that is written, before anything of the call. */
const firstNumber = '"sequence_number":0'

/** Codex reads a reason only from this event; the SDK of OpenAI reads `error`. */
function writeResponsesEvent({ type: _, ...rest }: Problem): string {
  const error = { code: 'server_error', message: rest.detail }
  const response = { id: `resp_${rest.ray_id}`, object: 'response', status: 'failed', error, output: [] }
  const event = { type: 'response.failed', sequence_number: 0, response, error: errorOf(rest) }
  return `event: response.failed\ndata: ${asciiJson({ ...event, ...rest })}\n\n`
}

function errorOf({ detail, error_name, error_code }: Omit<Problem, 'type'>): unknown {
  return { message: detail, type: error_name, code: error_code }
}

function envelopeOf(refusal: Refusal, api: AiApi, dialect: StreamDialect): Content {
  const faults = refusal.faults.map(writeFault)
  const isOfGateway = api === 'native' && refusal.faults[0]!.code === apiFaults.native_unauthorized.code
  const envelope = isOfGateway ? gatewayEnvelope(refusal, faults) : envelopeForSdk(refusal, faults, dialect)
  return { type: 'application/json', policy: null, body: asciiJson(envelope) }
}

/** Adds, beside the faults, the reason where providers write it and SDKs look for it. */
function envelopeForSdk(
  { error, faults }: Refusal,
  errors: readonly unknown[],
  dialect: StreamDialect,
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

/** The envelope for callers of provider-native routes without a valid token, or without permission. */
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
