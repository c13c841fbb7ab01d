// One client that attacks as fast as it can over HTTP/2, and connects again whenever it is cut off: a worker thread, with the port and the case as its data.
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
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

export interface Attack {
  readonly port: number
  readonly name: AttackName
}

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

const counts = { connections: 0, bytes: 0 }
if (parentPort !== null) {
  const { port, name } = workerData as Attack
  const [first, again] = attacks[name]
  let isOver = false
  let socket: Socket | null = null
  const attack = () => {
    if (isOver) return
    counts.connections++
    socket = connect(port, '127.0.0.1')
    const begin = Buffer.concat([preface, settings(), first])
    const send = () => {
      if (again === null || isOver) return
      counts.bytes += again.length
      if (socket!.write(again)) setImmediate(send)
    }
    counts.bytes += begin.length
    socket.write(begin)
    socket
      .on('drain', send)
      .on('error', () => {})
      .on('close', attack)
      .resume()
    if (again !== null) setImmediate(send)
  }
  attack()
  parentPort.once('message', () => {
    isOver = true
    socket?.destroy()
    parentPort!.postMessage(counts)
  })
}
