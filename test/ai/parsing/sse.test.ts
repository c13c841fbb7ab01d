import { deepEqual } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SseReader } from '../../../src/ai/parsing/sse.ts'

interface Read {
  readonly events: readonly (readonly [event: string, data: string])[]
  /** What the end of the stream left. */
  readonly left: readonly string[]
}

function read(...pieces: readonly (string | Buffer)[]): Read {
  const reader = new SseReader()
  const events: [string, string][] = []
  for (const piece of pieces) reader.push(Buffer.from(piece), (event, data) => events.push([event, data]))
  const left: string[] = []
  reader.end((_, data) => left.push(data))
  return { events, left }
}

describe('SseReader', () => {
  const streams = [
    ['an event', 'data: a\n\n', [['', 'a']]],
    ['a named event', 'event: ping\ndata: {}\n\n', [['ping', '{}']]],
    ['a name after the data', 'data: {}\nevent: ping\n\n', [['ping', '{}']]],
    ['the last of two names', 'event: a\nevent: b\ndata: x\n\n', [['b', 'x']]],
    ['several data lines as one', 'data: a\ndata\ndata: b\n\n', [['', 'a\n\nb']]],
    ['an empty data line', 'data:\n\n', [['', '']]],
    ['no event without data', 'event: a\n\ndata: b\n\n', [['', 'b']]],
    ['no space, one space and two', 'data:a\n\ndata: b\n\ndata:  c\n\n', ['a', 'b', ' c'].map(x => ['', x])],
    ['no comments and unknown fields', ': hi\nid: 1\nretry: 5\nfoo: x\ndata : y\ndata: a\n\n', [['', 'a']]],
    ['CRLF', 'event: a\r\ndata: b\r\n\r\n', [['a', 'b']]],
    ['CR', 'event: a\rdata: b\r\r', [['a', 'b']]],
    ['mixed line ends', 'data: a\r\n\rdata: b\n\r\n', ['a', 'b'].map(x => ['', x])],
    ['a byte order mark, once', '\ufeffdata: a\n\n\ufeffdata: b\n\n', [['', 'a']]],
    ['colons in data', 'data: a: b\n\n', [['', 'a: b']]],
  ] as const
  for (const [name, text, events] of streams) {
    test(`reads ${name}`, () => {
      deepEqual(read(text).events, events)
    })
  }

  test('reports an event as soon as its empty line has arrived, even if that may become a CRLF', () => {
    const reader = new SseReader()
    const seen: string[] = []
    reader.push(Buffer.from('data: a\r\n\r'), (_, data) => seen.push(data))
    deepEqual(seen, ['a'])
    reader.push(Buffer.from('\ndata: b\n\n'), (_, data) => seen.push(data))
    deepEqual(seen, ['a', 'b'])
  })

  test('reports an event that the end cut off, separately from all others', () => {
    for (const [text, left] of [
      ['data: a\n\n', []],
      ['', []],
      ['data: a', ['a']],
      ['data: a\n', ['a']],
      ['data: a\r', ['a']],
      ['event: x\ndata: a\r\ndata:b', ['a\nb']],
      ['data: a\n\nd', []],
      ['event: a\n', []],
    ] as const)
      deepEqual([read(text).left, read(text).events.length], [left, text.includes('\n\n') ? 1 : 0], text)
    deepEqual(read(Buffer.from([0xc3])).left, [])
  })

  test('reads the same wherever the bytes are cut', () => {
    const piece = fc.constantFrom(
      'data',
      'event',
      ':',
      ' ',
      '\r',
      '\n',
      '\r\n',
      '\n\n',
      'é',
      '🙂',
      'a',
      '\ufeff',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.array(fc.nat(200)), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''))
        const borders = [0, ...cuts.filter(cut => cut < bytes.length).sort((a, b) => a - b), bytes.length]
        const parts = borders.slice(1).map((end, i) => bytes.subarray(borders[i], end))
        deepEqual(read(...parts), read(bytes))
      }),
    )
  })

  test('reads a mark and a line end that come in pieces, with nothing between them', () => {
    const [first, second, third] = Buffer.from('\ufeff')
    const mark = [first, second, third].map(byte => Buffer.of(byte!))
    deepEqual(read(...mark, 'data: a\n\n').events, [['', 'a']])
    deepEqual(read('data: a\n\n', '\ufeffdata: b\n\n').events, [['', 'a']])
    deepEqual(read('data: a\r', '', '\ndata: b\n\n').events, [['', 'a\nb']])
    deepEqual(read('data: a\r', 'data: b\r\r').events, [['', 'a\nb']])
  })

  test('reads any bytes without throwing', () => {
    fc.assert(fc.property(fc.array(fc.uint8Array()), pieces => void read(...pieces.map(Buffer.from))))
  })

  test('reads an event of 16 MiB, and stops at a larger one, as a line or as lines', () => {
    const limit = 16 * 1024 * 1024
    const line = (size: number) => `data:${'a'.repeat(size - 6)}\n`
    for (const [begun, size] of [
      ['', limit],
      [`data:${'b'.repeat(99)}\n`, limit - 100],
    ] as const)
      for (const [more, count] of [
        [0, 1],
        [1, 0],
      ] as const) {
        const reader = new SseReader()
        const sizes: number[] = []
        reader.push(
          Buffer.from(
            begun +
              line(size + more)
                .slice(0, -1)
                .padEnd(size + more, 'a'),
          ),
          () => {},
        )
        reader.push(Buffer.from('\n\n'), (_, data) => sizes.push(data.length))
        deepEqual([sizes.length, reader.isOverfull], [count, more === 1])
      }
  })

  test('stops reading at an event that never ends', () => {
    const reader = new SseReader()
    const mebibyte = Buffer.alloc(1024 * 1024, 'a')
    const seen: string[] = []
    for (let i = 0; i < 18; i++) reader.push(mebibyte, () => {})
    reader.push(Buffer.from('\n\ndata: a\n\n'), (_, data) => seen.push(data))
    reader.end((_, data) => seen.push(data))
    deepEqual(seen, [])
  })
})
