// Finds where the content of a response begins: head, first events and comments may come minutes earlier.

import { SseReader } from '../../ai/parsing/sse.ts'
import { isObject } from '../../ai/translate/rules.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { jsonType } from './rewriting.ts'

/** Events without content are short, unless they repeat the call. */
const maxOpening = 1024 * 1024

/** In any API: message_start, response.in_progress, ping. */
const opening = /(?:^|[._-])(?:ping|keepalive|heartbeat|start|created|queued|in_progress|added)$/

export class FirstContent {
  /** Null if the first byte counts as content. */
  readonly #reader: SseReader | null
  #hasBegun = false
  isError = false

  constructor({ isEventStream, isEncoded }: ResponseHead) {
    this.#reader = isEventStream && !isEncoded ? new SseReader() : null
  }

  push(bytes: Buffer): boolean {
    if (this.#reader === null) return bytes.length > 0
    this.#reader.push(bytes, this.#onEvent)
    return this.#hasBegun || this.#reader.isOverfull
  }

  readonly #onEvent = (event: string, data: string): void => {
    if (this.#hasBegun) return
    if (data.trim() === '[DONE]') return
    const value = data.length > maxOpening ? null : parse(data)
    this.#hasBegun = isContent(event, value)
    this.isError = this.#hasBegun && isError(event, value)
  }
}

/** Whether a response that ended before it was relayed is sound: a stream would have had content. */
export function isSound({ isEventStream, isEncoded, contentType }: ResponseHead, body: Buffer): boolean {
  if (isEventStream) return false
  if (isEncoded || contentType === null || !jsonType.test(contentType)) return true
  const [first, last] = [firstOf(body), lastOf(body)]
  if (first !== brace.open || last !== brace.close) return first === bracket.open && last === bracket.close
  // Parsing costs more than the rest of the call.
  if (!body.includes('"error"')) return true
  const value = parse(body.toString())
  return (
    isObject(value) &&
    ((value.error ?? null) === null || results.some(name => (value[name] ?? null) !== null))
  )
}

/** Whether a body that is not sound is the error of its provider, and not the rest of a response. */
export function isErrorBody({ isEventStream }: ResponseHead, body: Buffer): boolean {
  return !isEventStream && isObject(parse(body.toString()))
}

const brace = { open: 0x7b, close: 0x7d }
const bracket = { open: 0x5b, close: 0x5d }
const space = 0x20

/** Returns the first byte that is no white space; -1 for none. */
function firstOf(body: Buffer): number {
  for (const byte of body) if (byte > space) return byte
  return -1
}

function lastOf(body: Buffer): number {
  for (let i = body.length - 1; i >= 0; i--) if (body[i]! > space) return body[i]!
  return -1
}

/** In any API. */
const results = ['choices', 'content', 'output', 'data', 'result']

function isError(event: string, value: unknown): boolean {
  if (!isObject(value)) return event === 'error'
  const { type, error = null } = value
  return event === 'error' || type === 'error' || type === 'response.failed' || error !== null
}

/** One that is an error or cannot be understood counts. */
function isContent(event: string, value: unknown): boolean {
  if (!isObject(value)) return true
  const { type, choices } = value
  if (opening.test(typeof type === 'string' ? type : event)) return false
  return !Array.isArray(choices) || 'error' in value || choices.some(hasContent)
}

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
