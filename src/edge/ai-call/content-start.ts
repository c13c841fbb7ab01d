// Finds where the content of a provider's response begins. The head, first events and comments of a stream
// may come at once, and the words of the model minutes later.

import { SseReader } from '../../ai/parsing/sse.ts'
import { isObject } from '../../ai/translate/rules.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { jsonType } from './rewriting.ts'

/** Characters of an event that is parsed. Events without content are short, unless they repeat the call. */
const maxOpening = 1024 * 1024

/**
 * Types of events that only say that something has begun, or that the connection is alive, in any API:
 * message_start, response.in_progress, ping.
 */
const opening = /(?:^|[._-])(?:ping|keepalive|heartbeat|start|created|queued|in_progress|added)$/

export class FirstContent {
  /** Null if the first byte counts as content. */
  readonly #reader: SseReader | null
  #hasBegun = false
  /** Whether an error came before any content. */
  isError = false

  constructor({ isEventStream, isEncoded }: ResponseHead) {
    this.#reader = isEventStream && !isEncoded ? new SseReader() : null
  }

  /** Takes bytes of the body; true once content has begun. */
  push(bytes: Buffer): boolean {
    if (this.#reader === null) return bytes.length > 0
    this.#reader.push(bytes, this.#onEvent)
    return this.#hasBegun || this.#reader.isOverfull
  }

  readonly #onEvent = (event: string, data: string): void => {
    if (this.#hasBegun) return
    const value = data.length > maxOpening ? null : parse(data)
    this.#hasBegun = isContent(event, value)
    this.isError = this.#hasBegun && isError(event, value)
  }
}

/**
 * Whether a response that has ended before it was relayed can be one: a stream would have had content, and JSON
 * can be read and is more than an error.
 */
export function isSound({ isEventStream, isEncoded, contentType }: ResponseHead, body: Buffer): boolean {
  if (isEventStream) return false
  if (isEncoded || contentType === null || !jsonType.test(contentType)) return true
  const value = parse(body.toString())
  if (!isObject(value)) return Array.isArray(value)
  return (value.error ?? null) === null || results.some(name => name in value)
}

/** Members of a response that has a result, in any API. */
const results = ['choices', 'content', 'output', 'data', 'result']

/** Whether an event reports that there will be no content. */
function isError(event: string, value: unknown): boolean {
  if (!isObject(value)) return event === 'error'
  const { type, error = null } = value
  return event === 'error' || type === 'error' || type === 'response.failed' || error !== null
}

/** Whether an event has content, or is an error. One that cannot be understood counts as content. */
function isContent(event: string, value: unknown): boolean {
  if (!isObject(value)) return true
  const { type, choices } = value
  if (opening.test(typeof type === 'string' ? type : event)) return false
  return !Array.isArray(choices) || 'error' in value || choices.some(hasContent)
}

/** Whether a choice of a chunk has more than a role. */
function hasContent(choice: unknown): boolean {
  if (!isObject(choice) || isFilled(choice.finish_reason)) return true
  if (!isObject(choice.delta)) return choice.text !== ''
  return Object.entries(choice.delta).some(([name, value]) => name !== 'role' && isFilled(value))
}

function isFilled(value: unknown): boolean {
  return (
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
