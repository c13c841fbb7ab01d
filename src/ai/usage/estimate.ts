// Estimates tokens that no provider counted: of a truncated stream or session.

import { isObject } from '../../base/text/json.ts'
import { SseReader } from '../parsing/sse.ts'
import type { ResponseExcerpt } from './usage.ts'

/** UTF-8 bytes, averaged over languages. */
const bytesOfToken = 4

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / bytesOfToken)
}

export function estimatedOut(
  { head, isEventStream }: Pick<ResponseExcerpt, 'head' | 'isEventStream'>,
  size: number,
): number {
  let bytes = 0
  const onEvent = (_: string, data: string) => {
    bytes += textIn(parse(data))
  }
  if (isEventStream) {
    const reader = new SseReader()
    reader.push(head, onEvent)
    reader.end(onEvent)
  } else for (const line of head.toString().split('\n')) onEvent('', line)
  return tokensOfBytes(size > head.length ? (bytes * size) / head.length : bytes)
}

/** Null for bodies other than JSON, and with images, files or sound, whose tokens do not depend on length. */
export function estimatedIn(request: Buffer): number | null {
  const body = parse(request.toString())
  if (!isObject(body) || request.includes('base64') || request.includes('"data:')) return null
  return tokensOfBytes(bytesBelow(body, everything, 0))
}

/** Like `estimatedIn`, but counts so many for each image, file or sound. */
export function estimatedTokens(request: object): number {
  const media = mediaIn(request, 0)
  return (
    tokensOfBytes(Math.max(0, bytesBelow(request, everything, 0) - media.bytes)) +
    media.count * tokensOfMedium
  )
}

/** The most that Claude counts for an image of usual size. */
const tokensOfMedium = 1600

/** Texts in base64, which are long and have no spaces. */
function mediaIn(value: object, depth: number): { bytes: number; count: number } {
  const media = { bytes: 0, count: 0 }
  if (depth > deepest) return media
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string') {
      if (!(name === 'data' || member.startsWith('data:')) || member.length < shortestMedium) continue
      media.bytes += Buffer.byteLength(member)
      media.count++
    } else if (typeof member === 'object' && member !== null) {
      const inner = mediaIn(member, depth + 1)
      media.bytes += inner.bytes
      media.count += inner.count
    }
  }
  return media
}

const shortestMedium = 64

/** Bytes of text, thoughts or tool calls in one event; repetitions of earlier events do not count. */
export function textIn(event: unknown): number {
  if (!isObject(event)) return 0
  const { type, delta } = event
  if (typeof type === 'string' && (type.startsWith('response.') || type.startsWith('conversation.')))
    return type.endsWith('.delta') && !type.endsWith('audio.delta') && typeof delta === 'string'
      ? Buffer.byteLength(delta)
      : 0
  return bytesBelow(event, spoken, 0)
}

const spoken: ReadonlySet<string> | null = new Set([
  'content',
  'reasoning_content',
  'reasoning',
  'refusal',
  'text',
  'thinking',
  'partial_json',
  'arguments',
  'response',
])
const everything = null
/** No event is as deep; deeper values do not count. */
const deepest = 32

function bytesBelow(value: object, names: ReadonlySet<string> | null, depth: number): number {
  if (depth > deepest) return 0
  let bytes = 0
  for (const [name, member] of Object.entries(value)) {
    const isText = typeof member === 'string' && (names === null || names.has(name) || Array.isArray(value))
    if (isText) bytes += Buffer.byteLength(member)
    else if (typeof member === 'object' && member !== null) bytes += bytesBelow(member, names, depth + 1)
  }
  return bytes
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
