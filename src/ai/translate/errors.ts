// Translates the error that a provider responds with in place of a response.

import { type JsonObject, objectIn, readObject, textIn } from './json.ts'
import { messagesErrorType } from './outcome.ts'

/** As Messages writes it; null for JSON without a message. */
export function messagesError(json: string, status: number): string | null {
  const [error, message] = errorIn(json)
  if (message === '') return null
  const type = messagesErrorType({ ...error, status: errorTypes.get(status) })
  return JSON.stringify({ type: 'error', error: { type, message } })
}

/** As Chat Completions and Responses write it; null for JSON without a message. */
export function openAiError(json: string): string | null {
  const [{ type }, message] = errorIn(json)
  if (message === '') return null
  return JSON.stringify({ error: { message, type: textIn(type) || 'api_error', param: null, code: null } })
}

/** Returns the error and its message, which some servers write beside it, or in place of it. */
function errorIn(json: string): readonly [JsonObject, string] {
  const body = readObject(json) ?? {}
  const { error, message, detail } = body
  const inner = objectIn(error)
  return [inner, [inner.message, error, message, detail].map(textIn).find(text => text !== '') ?? '']
}

/** For an error whose type Messages does not have. */
const errorTypes: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [422, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
])
