// What a client may send over a WebSocket, by the sections of the Autobahn suite: a proxy passes all of it on, byte by byte,
// and leaves it to the two ends to refuse what is invalid.

import { closeFrame, frame, opcodes } from '../help/frames.ts'

/** Pieces that are sent one by one. */
export type Sent = readonly [title: string, ...pieces: Buffer[]]

const masked = (opcode: number, payload: string | Buffer, isFinal = true, isCompressed = false) =>
  frame({ opcode, payload: Buffer.from(payload as string), isFinal, isMasked: true, isCompressed })
const text = (payload: string | Buffer, isFinal = true) => masked(opcodes.text, payload, isFinal)
const more = (payload: string | Buffer, isFinal = true) => masked(opcodes.continuation, payload, isFinal)
const sized = (kind: 'text' | 'binary', ...sizes: readonly number[]): Sent[] =>
  sizes.map(size => [`a ${kind} of ${size} bytes`, masked(opcodes[kind], 'x'.repeat(size))])

/** With bits in the place of the reserved ones. */
function reserved(bits: number, of: Buffer): Buffer {
  const bytes = Buffer.from(of)
  bytes[0]! |= bits << 4
  return bytes
}

function closing(code: number, reason: string | Buffer): Buffer {
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason as string)])
  return masked(opcodes.close, payload)
}

const utf8: Readonly<Record<string, readonly number[]>> = {
  'a byte that continues nothing': [0x80],
  'a sequence that is cut': [0x61, 0xe2, 0x82],
  'a surrogate': [0xed, 0xa0, 0x80],
  'U+10FFFF': [0xf4, 0x8f, 0xbf, 0xbf],
  'a character beyond U+10FFFF': [0xf4, 0x90, 0x80, 0x80],
  'a sequence of five bytes': [0xf8, 0x88, 0x80, 0x80, 0x80],
  'more bytes than a character needs': [0xe0, 0x80, 0xaf],
  'a byte order mark': [0xef, 0xbb, 0xbf],
}

/** Without messages that no window of HTTP/2 has room for. */
export const sentFrames: readonly Sent[] = [
  ...sized('text', 0, 125, 126, 127, 128),
  ...sized('binary', 0, 125, 126, 127, 128, 16_000),
  ['a length in more bytes than it needs', Buffer.from([0x81, 0xfe, 0, 2, 0, 0, 0, 0, 104, 105])],
  ['bytes one by one', ...Array.from(text('hello'), byte => Buffer.from([byte]))],
  ['a ping without a payload', masked(opcodes.ping, '')],
  ['a ping of 125 bytes that are no text', masked(opcodes.ping, Buffer.alloc(125, 0xfe))],
  ['a ping of 126 bytes', masked(opcodes.ping, 'x'.repeat(126))],
  ['ten pings', ...Array.from({ length: 10 }, (_, i) => masked(opcodes.ping, `${i}`))],
  ['a pong and a ping', masked(opcodes.pong, 'a'), masked(opcodes.ping, 'b')],
  ...[1, 2, 3, 4, 5, 6, 7].map(
    (bits): Sent => [`reserved bits ${bits}`, reserved(bits, text('a')), text('b')],
  ),
  ['a reserved bit in a ping', reserved(4, masked(opcodes.ping, 'a'))],
  ['a reserved bit in a close', reserved(2, closeFrame(1000, true))],
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((type): Sent => [`type ${type}`, masked(type, 'a'), text('b')]),
  ['a fragment that continues nothing', more('a', false), more('b')],
  ['a text within another', text('a', false), text('b'), more('c')],
  ['a fragmented ping', masked(opcodes.ping, 'a', false), more('b')],
  ['fragments without bytes', text('', false), more('', false), more('')],
  ['a close between fragments', text('a', false), closeFrame(1000, true)],
  ['fifty fragments', text('a', false), ...Array.from({ length: 48 }, () => more('b', false)), more('c')],
  ...Object.entries(utf8).flatMap(([what, bytes]): Sent[] => [
    [what, text(Buffer.from(bytes))],
    [`${what}, in fragments`, text(Buffer.from(bytes.slice(0, 1)), false), more(Buffer.from(bytes.slice(1)))],
  ]),
  ['a close with a reason', closing(1000, 'bye')],
  ['a close with a reason of 123 bytes', closing(1000, 'x'.repeat(123))],
  ['a close with a reason of 124 bytes', closing(1000, 'x'.repeat(124))],
  ['a close with a reason that is no UTF-8', closing(1000, Buffer.from([0xce, 0xba, 0xed, 0xa0]))],
  ['a close without a payload', masked(opcodes.close, '')],
  ['a close of one byte', masked(opcodes.close, 'x')],
  ['a text behind a close', closeFrame(1000, true), text('late')],
  ['a ping behind a close', closeFrame(1000, true), masked(opcodes.ping, 'late')],
  ['two closes', closeFrame(1000, true), closeFrame(1001, true)],
  ...[0, 999, 1004, 1006, 1012, 1015, 1016, 1100, 2000, 2999, 3999, 65_535].map(
    (code): Sent => [`a close with ${code}`, closeFrame(code, true)],
  ),
  ['a compressed text', masked(opcodes.text, Buffer.from('f248cdc9c90700', 'hex'), true, true)],
  [
    'a compressed text in fragments',
    masked(opcodes.text, Buffer.from('f248cd', 'hex'), false, true),
    more(Buffer.from('c9c90700', 'hex')),
  ],
]
