// Frames of HTTP/2 for fuzzing: words, and inputs whose lengths are right again.

import { flag, frameType } from '../../src/http2/frames/frames.ts'
import * as h2 from '../help/http2.ts'

const names = [
  ':method',
  ':path',
  ':scheme',
  ':authority',
  ':status',
  ':protocol',
  'content-length',
  'connection',
  'cookie',
  'te',
  'host',
  'x',
]
const values = [
  'GET',
  'POST',
  'CONNECT',
  '/',
  'https',
  'a.example',
  '200',
  '103',
  'websocket',
  '5',
  'trailers',
  'a=b',
  '',
]

/** Frames, fields and octets of header blocks. */
export const frameTokens: readonly string[] = [
  ...Object.values(frameType).map(type =>
    h2.frame(type, flag.endHeaders, 1, Buffer.alloc(type === frameType.data ? 2 : 0)),
  ),
  ...[
    h2.headers(1),
    h2.headers(3),
    h2.data(1, 'abc'),
    h2.data(1, '', flag.endStream),
    h2.ping,
    h2.settingsAck,
  ],
  ...[
    h2.rstStream(1),
    h2.windowUpdate(0, 1),
    h2.windowUpdate(1, 2 ** 31 - 1),
    h2.settings([4, 1]),
    h2.settings([1, 0]),
  ],
  ...[h2.frame(frameType.priority, 0, 1, Buffer.alloc(5)), h2.frame(frameType.goAway, 0, 0, Buffer.alloc(8))],
  ...[
    h2.frame(frameType.headers, 0, 1, h2.block(...h2.get)),
    h2.frame(frameType.continuation, flag.endHeaders, 1),
  ],
  ...names.flatMap(name => [
    h2.block([name, 'a']),
    Buffer.from(`\0${String.fromCharCode(name.length)}${name}`, 'latin1'),
  ]),
  ...values.map(value => Buffer.from(String.fromCharCode(value.length) + value, 'latin1')),
  ...[
    [0x82],
    [0x84],
    [0x87],
    [0x40],
    [0x10],
    [0x20],
    [0x3f, 0xe1, 0x1f],
    [0x7f, 0x80],
    [0xff, 0xff, 0xff],
    [0xbe],
    [0x88],
  ].map(bytes => Buffer.from(bytes)),
].map(bytes => bytes.toString('latin1'))

/** Gives each frame the length that its bytes have, up to the end for the last one, and known types. */
export function repairFrames(input: Buffer): Buffer {
  const result = Buffer.from(input)
  for (let at = 0; at + 9 <= result.length; ) {
    const room = result.length - at - 9
    if (result.readUIntBE(at, 3) > room) result.writeUIntBE(room, at, 3)
    result[at + 3]! %= 11
    if (result.readUInt32BE(at + 5) > 9) result.writeUInt32BE(result[at + 8]! % 8, at + 5)
    at += 9 + result.readUIntBE(at, 3)
  }
  return result
}
