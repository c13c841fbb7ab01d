// A WebSocket that echoes (RFC 6455), for the demo origin: just enough to see an upgrade pass.

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

const largestPayload = 1024 * 1024
const opcodes = { close: 0x8, ping: 0x9, pong: 0xa }

interface Frame {
  readonly first: number // FIN, reserved bits and opcode
  readonly payload: Buffer
  readonly size: number // of the whole frame on the wire
}

/** Echoes frame by frame until the client closes; an invalid frame ends the connection. */
export function acceptEcho(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const key = request.headers['sec-websocket-key']
  if (request.headers.upgrade?.toLowerCase() !== 'websocket' || key === undefined)
    return void socket.destroy()
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  let waiting = head
  const listen = (bytes: Buffer) => {
    waiting = echo(Buffer.concat([waiting, bytes]), socket)
  }
  socket.on('data', listen).on('error', () => socket.destroy())
  listen(Buffer.alloc(0))
}

function echo(bytes: Buffer, socket: Duplex): Buffer {
  let rest = bytes
  for (let frame = readFrame(rest); frame; frame = readFrame(rest)) {
    rest = rest.subarray(frame.size)
    const opcode = frame.first & 0x0f
    const first = opcode === opcodes.ping ? 0x80 | opcodes.pong : frame.first
    if (opcode !== opcodes.pong)
      socket.write(Buffer.concat([frameHead(first, frame.payload.length), frame.payload]))
    if (opcode === opcodes.close) socket.end()
  }
  if (rest.length > largestPayload) socket.destroy()
  return rest
}

/** Reads an unmasked frame (section 5.2); null while it is incomplete. */
function readFrame(bytes: Buffer): Frame | null {
  if (bytes.length < 2) return null
  const short = bytes[1]! & 0x7f
  const maskAt = short === 126 ? 4 : short === 127 ? 10 : 2
  if (bytes.length < maskAt + 4) return null
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? bytes.readUInt32BE(6) : short
  const size = maskAt + 4 + length
  if (bytes.length < size) return null
  const mask = bytes.subarray(maskAt, maskAt + 4)
  const payload = Buffer.from(bytes.subarray(maskAt + 4, size))
  for (let i = 0; i < length; i++) payload[i]! ^= mask[i & 3]!
  return { first: bytes[0]!, payload, size }
}

function frameHead(first: number, length: number): Buffer {
  if (length < 126) return Buffer.from([first, length])
  if (length < 65_536) return Buffer.from([first, 126, length >> 8, length & 0xff])
  const head = Buffer.alloc(10)
  head[0] = first
  head[1] = 127
  head.writeUInt32BE(length, 6)
  return head
}
