// Frames of an event stream of AWS, as Bedrock sends them, by the codec of AWS.

import { EventStreamCodec } from '@smithy/eventstream-codec'

const codec = new EventStreamCodec(
  bytes => (typeof bytes === 'string' ? bytes : Buffer.from(bytes as Uint8Array).toString()),
  text => Buffer.from(text),
)

/** Makes one frame; all its headers are texts. */
export function frame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }])
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed), body: Buffer.from(payload) }))
}

/** Makes a frame with an event of a model. */
export function chunk(event: string): Buffer {
  const bytes = Buffer.from(event).toString('base64')
  const headers = { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' }
  return frame(headers, JSON.stringify({ bytes, p: 'abcdef' }))
}
