// Whether a response came to its true end, by what it says itself: only then it may be given to others.

import { isObject } from '../base/text/json.ts'
import { SseReader } from '../ai/parsing/sse.ts'

interface EndedResponse {
  readonly contentType: string | null
  readonly isEventStream: boolean
  readonly isEncoded: boolean
  readonly body: Buffer
}

const json = /^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;|$)/i
const jsonLines = /^application\/(?:x-ndjson|jsonl)[ \t]*(?:;|$)/i
const media = /^(?:audio|image)\/[\w.+-]+[ \t]*(?:;|$)/i

/**
 * Whether a response with status 200 is one: a stream with the event that ends it and without an error, or a
 * body that is complete and no error. Of a coding or a type that is not known here, nobody can tell.
 */
export function isWholeResponse({ contentType, isEventStream, isEncoded, body }: EndedResponse): boolean {
  if (isEncoded || body.length === 0) return false
  if (isEventStream) return isWholeStream(body)
  if (contentType === null) return false
  if (json.test(contentType)) return isResult(parse(body.toString()))
  if (jsonLines.test(contentType)) return isWholeList(body.toString())
  // The transfer says where it ends.
  return media.test(contentType)
}

/** No event but a comment follows the last one. */
function isWholeStream(body: Buffer): boolean {
  const reader = new SseReader()
  let isSound = true
  let hasEnded = false
  const take = (event: string, data: string) => {
    if (data.trim() === '[DONE]') hasEnded = true
    else {
      const value = parse(data)
      isSound &&= event !== 'error' && isObject(value) && isSoundEvent(value)
      // Usage may follow the last content of Google and of Bedrock.
      hasEnded = isSound && (isLast(value) || (hasEnded && isObject(value) && !hasContent(value)))
    }
  }
  reader.push(body, take)
  reader.end(take)
  return isSound && hasEnded && !reader.isOverfull
}

function isSoundEvent({ type, error = null }: Record<string, unknown>): boolean {
  return error === null && type !== 'error' && type !== 'response.failed' && !isException(type)
}

function isException(type: unknown): boolean {
  return typeof type === 'string' && type.endsWith('Exception')
}

/** The event that ends a stream of Messages, of Responses, of Google or of Converse. Chats have a mark. */
function isLast(value: unknown): boolean {
  if (!isObject(value)) return false
  const { type, candidates, stopReason } = value
  if (type === 'message_stop' || type === 'response.completed' || type === 'response.incomplete') return true
  return typeof stopReason === 'string' || haveFinished(candidates)
}

/** By `finishReason`, of each candidate. */
function haveFinished(candidates: unknown): boolean {
  return (
    Array.isArray(candidates) &&
    candidates.length > 0 &&
    candidates.every(candidate => isObject(candidate) && typeof candidate.finishReason === 'string')
  )
}

function hasContent({ type, choices, candidates }: Record<string, unknown>): boolean {
  return type !== undefined || (Array.isArray(choices) && choices.length > 0) || candidates !== undefined
}

/** Lists of JSON lines, as Ollama sends them, end with one that is `done`. */
function isWholeList(body: string): boolean {
  const values = body.split('\n').flatMap(line => (line.trim() === '' ? [] : [parse(line)]))
  const last = values.at(-1)
  return (
    isObject(last) &&
    last.done === true &&
    values.every(value => isObject(value) && (value.error ?? null) === null)
  )
}

function isResult(value: unknown): boolean {
  if (!isObject(value) || (value.error ?? null) !== null || value.type === 'error') return false
  // The envelope of the API.
  if (value.success === true && isObject(value.result)) return isResult(value.result)
  const { status, choices, data, candidates, object, stop_reason: stopReason } = value
  if (object === 'response') return status === 'completed' || status === 'incomplete'
  if (value.type === 'message' && typeof stopReason !== 'string') return false
  if (Array.isArray(choices)) return choices.length > 0 && choices.every(hasFinished)
  if (candidates !== undefined) return haveFinished(candidates)
  // The address of an image is good for an hour or less.
  return !(Array.isArray(data) && data.some(item => isObject(item) && (item.url ?? null) !== null))
}

function hasFinished(choice: unknown): boolean {
  return isObject(choice) && choice.finish_reason !== null && (choice.error ?? null) === null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
