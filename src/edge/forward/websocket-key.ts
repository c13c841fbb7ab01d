// The check of a WebSocket handshake (RFC 6455 section 4.1) that a client cannot make.

import { createHash } from 'node:crypto'
import { type FieldLines, firstValue } from '../../http1/fields/fields.ts'

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export function acceptsKey(request: FieldLines, response: FieldLines): boolean {
  const key = firstValue(request.fields, 'sec-websocket-key')
  const accept = createHash('sha1').update(`${key}${guid}`).digest('base64')
  return firstValue(response.fields, 'sec-websocket-accept') === accept
}
