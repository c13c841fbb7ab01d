// What a response is to the guard, by its head.

import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { hasEventFrames } from '../ai-call/event-frames.ts'
import { jsonType } from '../ai-call/rewriting.ts'

/** How a body is read. */
export type BodyForm = 'json' | 'lines' | 'text'

/** Null for media, which are not decoded. */
export function formOf(head: ResponseHead): BodyForm | 'events' | 'unreadable' | null {
  const { contentType, isEncoded, isEventStream } = head
  if (contentType !== null && media.test(contentType)) return null
  if (isEncoded || hasEventFrames(head)) return 'unreadable'
  if (isEventStream) return 'events'
  if (contentType === null) return 'text'
  if (jsonType.test(contentType)) return 'json'
  return lines.test(contentType) ? 'lines' : 'text'
}

const media = /^(?:audio|image|video|font)\/|^application\/pdf\b/i
const lines = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines)\b/i
