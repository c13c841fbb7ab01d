// How a response ended and its usage, in the terms of both APIs.

import { countIn, type JsonObject, objectIn, textIn } from './json.ts'

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'function_call' | 'content_filter'
export type IncompleteReason = 'max_output_tokens' | 'content_filter'
type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'refusal'

/** Undefined where not reported; `prompt` includes those read from a cache and those written to one. */
export interface TokenCounts {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  readonly reasoning: number | undefined
}

/** An unknown reason is a plain stop; `asFunction` for the older shape of calls. */
export function finishReason(stopReason: unknown, asFunction = false): FinishReason {
  const reason = finishReasons.get(stopReason) ?? 'stop'
  return asFunction && reason === 'tool_calls' ? 'function_call' : reason
}

/** A call that the request forced ends with a plain `stop` in chat. */
export function stopReason(finish: unknown, { isRefusal = false, hasToolUse = false }): StopReason {
  const reason = isRefusal ? 'refusal' : (stopReasons.get(finish) ?? 'end_turn')
  return reason === 'end_turn' && hasToolUse ? 'tool_use' : reason
}

/** Null if the response is complete. */
export function incompleteReason(finish: unknown): IncompleteReason | null {
  if (finish === 'length') return 'max_output_tokens'
  return finish === 'content_filter' ? 'content_filter' : null
}

/** `input_tokens` exclude those read from or written to a cache. */
export function countsOfMessages(usage: JsonObject): TokenCounts {
  const cacheRead = countIn(usage.cache_read_input_tokens)
  const cacheWrite = countIn(usage.cache_creation_input_tokens)
  const input = countIn(usage.input_tokens)
  return {
    prompt: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    completion: countIn(usage.output_tokens),
    cacheRead,
    cacheWrite,
    reasoning: countIn(objectIn(usage.output_tokens_details).thinking_tokens),
  }
}

/** `prompt_tokens` include them all; some providers count reasoning in the total alone. */
export function countsOfChat(usage: JsonObject): TokenCounts {
  const { cached_tokens, cache_write_tokens } = objectIn(usage.prompt_tokens_details)
  const prompt = countIn(usage.prompt_tokens)
  const completion = countIn(usage.completion_tokens)
  const rest = prompt === undefined ? 0 : (countIn(usage.total_tokens) ?? 0) - prompt
  return {
    prompt,
    completion: rest > (completion ?? 0) ? rest : completion,
    cacheRead: countIn(cached_tokens),
    cacheWrite: countIn(cache_write_tokens),
    reasoning: countIn(objectIn(usage.completion_tokens_details).reasoning_tokens),
  }
}

/** `input_tokens` include those read from a cache and those written to one. */
export function countsOfResponses(usage: JsonObject): TokenCounts {
  const { cached_tokens, cache_write_tokens } = objectIn(usage.input_tokens_details)
  return {
    prompt: countIn(usage.input_tokens),
    completion: countIn(usage.output_tokens),
    cacheRead: countIn(cached_tokens),
    cacheWrite: countIn(cache_write_tokens),
    reasoning: countIn(objectIn(usage.output_tokens_details).reasoning_tokens),
  }
}

export type ChatUsage = ReturnType<typeof chatUsage>

export function chatUsage({ prompt, completion, cacheRead, cacheWrite, reasoning }: TokenCounts) {
  if (prompt === undefined || completion === undefined) return undefined
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: detailsOf({ cached_tokens: cacheRead, cache_write_tokens: cacheWrite }),
    completion_tokens_details: detailsOf({ reasoning_tokens: reasoning }),
  }
}

/** Clients of Messages fail without the first two, so they are 0 if the provider counted nothing. */
export function messagesUsage({ prompt = 0, completion = 0, cacheRead, cacheWrite, reasoning }: TokenCounts) {
  return {
    input_tokens: Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output_tokens: completion,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens_details: detailsOf({ thinking_tokens: reasoning }),
  }
}

/** Clients of Responses expect all of these members, so unknown details are 0. */
export function responsesUsage({ prompt, completion, cacheRead, cacheWrite, reasoning }: TokenCounts) {
  if (prompt === undefined || completion === undefined) return undefined
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead ?? 0, cache_write_tokens: cacheWrite ?? 0 },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: prompt + completion,
  }
}

function detailsOf(counts: Readonly<Record<string, number | undefined>>) {
  return Object.values(counts).some(count => count !== undefined) ? counts : undefined
}

/** An error within a stream of chat. */
export function chatErrorOf(error: JsonObject) {
  const message = textIn(error.message) || 'The provider failed.'
  return { message, type: textIn(error.type) || 'api_error', param: null, code: textIn(error.code) || null }
}

/** OpenAI has no closed list of error types. */
export function messagesErrorType(error: JsonObject): string {
  const types = [error.code, error.type, error.status].map(textIn)
  return (
    types.map(type => errorTypes.get(type) ?? type).find(type => knownErrorTypes.has(type)) ?? 'api_error'
  )
}

/** Clients decide by the code whether to retry, so an unknown one is a plain failure. */
export function responsesErrorCode(error: JsonObject): string {
  const codes = [error.code, error.type].map(textIn)
  return (
    codes.map(code => errorCodes.get(code) ?? code).find(code => knownErrorCodes.has(code)) ?? 'server_error'
  )
}

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

const stopReasons: ReadonlyMap<unknown, StopReason> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
])

const knownErrorTypes: ReadonlySet<string> = new Set([
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'timeout_error',
  'overloaded_error',
  'api_error',
])

const errorTypes: ReadonlyMap<string, string> = new Map([
  ['insufficient_quota', 'billing_error'],
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['rate_limit_reached', 'rate_limit_error'],
  ['invalid_api_key', 'authentication_error'],
  ['model_not_found', 'not_found_error'],
  ['engine_overloaded', 'overloaded_error'],
  ['server_is_overloaded', 'overloaded_error'],
  ['invalid_prompt', 'invalid_request_error'],
  ['context_length_exceeded', 'invalid_request_error'],
])

/** Those that clients of Responses tell apart. */
const knownErrorCodes: ReadonlySet<string> = new Set([
  'server_error',
  'rate_limit_exceeded',
  'invalid_prompt',
  'context_length_exceeded',
  'insufficient_quota',
  'server_is_overloaded',
])

const errorCodes: ReadonlyMap<string, string> = new Map([
  ['rate_limit_error', 'rate_limit_exceeded'],
  ['rate_limit_reached', 'rate_limit_exceeded'],
  ['overloaded_error', 'server_is_overloaded'],
  ['engine_overloaded', 'server_is_overloaded'],
  ['billing_error', 'insufficient_quota'],
  ['invalid_request_error', 'invalid_prompt'],
])
