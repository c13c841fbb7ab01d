import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { BodyReader, type Framing } from '../../../src/http1/body/body.ts'

/** What became of a body: its data, and how much of the input belongs to it. */
interface Outcome {
  readonly state: 'done' | 'faulty' | 'open'
  readonly data: string
  readonly consumed: number
  readonly trailers: readonly string[] | null
}

describe('a body of known length', () => {
  test('ends with its last byte and leaves the next request alone', () => {
    deepEqual(read('length', 5, ['helloGET /']), {
      state: 'done',
      data: 'hello',
      consumed: 5,
      trailers: null,
    })
  })

  test('is done before it began when the length is nought', () => {
    equal(new BodyReader('length', 0).done, true)
  })

  test('points into the bytes it was given', () => {
    const reader = new BodyReader('length', 3)
    equal(reader.next(Buffer.from('..abc..'), 2), 5)
    deepEqual([reader.from, reader.to], [2, 5])
  })

  test('is truncated when the connection ends before it', () => {
    const reader = new BodyReader('length', 5)
    reader.next(Buffer.from('hell'), 0)
    reader.end()
    deepEqual([reader.done, reader.faulty], [false, true])
  })

  test('is not truncated by an end behind its last byte', () => {
    const reader = new BodyReader('length', 4)
    reader.next(Buffer.from('hell'), 0)
    reader.end()
    deepEqual([reader.done, reader.faulty], [true, false])
  })
})

describe('no body', () => {
  test('is done at once and takes no byte', () => {
    const reader = new BodyReader('none', 0)
    equal(reader.done, true)
    equal(reader.next(Buffer.from('GET /'), 2), 2)
    equal(reader.from, reader.to)
  })
})

describe('a body that the end of the connection ends', () => {
  test('takes all there is, and is whole when the end comes', () => {
    const reader = new BodyReader('close', 0)
    equal(reader.next(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), 0), 19)
    equal(reader.done, false)
    reader.end()
    deepEqual([reader.done, reader.faulty], [true, false])
  })
})

describe('a chunked body', () => {
  const good = [
    ['no chunk but the last', '0\r\n\r\n', ''],
    ['one chunk', '5\r\nhello\r\n0\r\n\r\n', 'hello'],
    ['several chunks', '5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n', 'hello, world'],
    ['sizes in both cases', 'a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n', '01234567890123456789a'],
    ['leading noughts', '005\r\nhello\r\n000\r\n\r\n', 'hello'],
    ['a size of ten digits', '0000000005\r\nhello\r\n0\r\n\r\n', 'hello'],
    ['line ends inside the data', '4\r\n\r\n\r\n\r\n0\r\n\r\n', '\r\n\r\n'],
    ['a last chunk inside the data', '5\r\n0\r\n\r\n\r\n0\r\n\r\n', '0\r\n\r\n'],
    ['extensions', '5;a=b;c="d e"\r\nhello\r\n0;x\r\n\r\n', 'hello'],
    ['many chunks with extensions', `${'1;a\r\n!\r\n'.repeat(12)}0\r\n\r\n`, '!'.repeat(12)],
    ['an extension with a backslash that quotes nothing', '5;a\\\r\nhello\r\n0\r\n\r\n', 'hello'],
    ['extensions with quoted quotes', '5;a="\\"\\\\";b="\\;"\r\nhello\r\n0\r\n\r\n', 'hello'],
  ] as const
  for (const [what, text, data] of good)
    test(`reads ${what}`, () => {
      deepEqual(chunked(`${text}GET /`), { state: 'done', data, consumed: text.length, trailers: null })
    })

  test('reads sizes of two to seven digits, whole and byte by byte', () => {
    for (const digits of ['10', '1a', '2b3', 'C4d5', '1e6f7', '00001A', '00001f3']) {
      const size = Number.parseInt(digits, 16)
      for (const line of [[`${digits}\r\n`], [...digits, '\r', '\n']]) {
        const { state, data } = read('chunked', 0, [...line, 'x'.repeat(size), '\r\n0\r\n\r\n'])
        deepEqual([state, data.length], ['done', size])
      }
    }
  })

  const faulty = [
    ['an empty size where the last chunk should be', ''],
    ['an extension alone where the last chunk should be', ';a'],
    ['an empty size', '\r\nhello\r\n0\r\n\r\n'],
    ['an extension without a size', ';a=b\r\nhello\r\n0\r\n\r\n'],
    ['a size with 0x before it', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a plus sign', '+5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a minus sign', '-5\r\nhello\r\n0\r\n\r\n'],
    ['a size with an underscore', '1_0\r\n0123456789012345\r\n0\r\n\r\n'],
    ['a size that is no hexadecimal', 'g\r\nhello\r\n0\r\n\r\n'],
    ['a size in quotes', '"5"\r\nhello\r\n0\r\n\r\n'],
    ['a space before the size', ' 5\r\nhello\r\n0\r\n\r\n'],
    ['a space behind the size', '5 \r\nhello\r\n0\r\n\r\n'],
    ['a tab behind the size', '5\t\r\nhello\r\n0\r\n\r\n'],
    ['white space before an extension', '5 ;a=b\r\nhello\r\n0\r\n\r\n'],
    ['a comma list of sizes', '5,5\r\nhello\r\n0\r\n\r\n'],
    ['a size that overflows 64 bits to 5', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
    ['a size that overflows 32 bits by noughts', '00000000005\r\nhello\r\n0\r\n\r\n'],
    ['a bare LF behind the size', '5\nhello\r\n0\r\n\r\n'],
    ['a bare CR behind the size', '5\rhello\r\n0\r\n\r\n'],
    ['two CR behind the size', '5\r\r\nhello\r\n0\r\n\r\n'],
    ['a bare LF inside an extension', '5;a\nb\r\nhello\r\n0\r\n\r\n'],
    ['a bare LF inside a quoted extension', '5;a="\n"\r\nhello\r\n0\r\n\r\n'],
    ['a quoted extension that goes on behind its line', '5;a="\r\nhello\r\n0\r\n\r\n"\r\n'],
    ['a quoted extension whose last quote is quoted', '5;a="\\"\r\nhello\r\n0\r\n\r\n'],
    ['a quoted line end inside an extension', '5;a="\\\r\n"\r\nhello\r\n0\r\n\r\n'],
    ['a bare CR inside an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
    ['a NUL inside an extension', '5;a\0\r\nhello\r\n0\r\n\r\n'],
    ['another byte in place of the CR behind the size', '5X\nhello\r\n0\r\n\r\n'],
    ['another byte in place of the LF behind the size', '5\rXhello\r\n0\r\n\r\n'],
    ['another byte in place of the CR behind the data', '5\r\nhelloX\n0\r\n\r\n'],
    ['another byte in place of the LF behind the data', '5\r\nhello\rX0\r\n\r\n'],
    ['a bare LF behind the data', '5\r\nhello\n0\r\n\r\n'],
    ['no line end behind the data', '5\r\nhello0\r\n\r\n'],
    ['one byte more than announced', '5\r\nhello!\r\n0\r\n\r\n'],
    ['one byte less than announced', '5\r\nhell\r\n0\r\n\r\n'],
    ['a bare LF as the empty line', '0\r\n\n'],
    ['a bare LF behind the last chunk', '0\n\r\n'],
  ] as const
  for (const [hole, text] of faulty)
    test(`refuses ${hole}`, () => equal(chunked(`${text}\r\n\r\n`).state, 'faulty'))

  test('refuses extensions beyond 16 KiB, together over all chunks', () => {
    const chunk = `1;${'x'.repeat(4096)}\r\n!\r\n`
    equal(chunked(`${chunk.repeat(4)}0\r\n\r\n`).state, 'done')
    equal(chunked(`${chunk.repeat(4)}1;x\r\n!\r\n0\r\n\r\n`).state, 'faulty')
    equal(chunked(`${chunk.repeat(3)}1;${'x'.repeat(4097)}\r\n!\r\n0\r\n\r\n`).state, 'faulty')
  })

  test('has the sizes of its chunks, whatever length is given', () => {
    equal(read('chunked', 7, ['5;a\r\nhello\r\n0\r\n\r\n']).data, 'hello')
  })

  test('is truncated when the connection ends before its last chunk', () => {
    const reader = new BodyReader('chunked', 0)
    reader.next(Buffer.from('5\r\nhello\r\n'), 0)
    reader.end()
    deepEqual([reader.done, reader.faulty], [false, true])
  })
})

describe('trailers', () => {
  test('are kept and belong to the body', () => {
    const text = '0\r\nX-Checksum: abc\r\n\r\n'
    deepEqual(chunked(`${text}GET /`), {
      state: 'done',
      data: '',
      consumed: text.length,
      trailers: ['X-Checksum', 'abc'],
    })
  })

  test('make the body faulty when they are', () => {
    equal(chunked('0\r\nContent-Length: 5\r\n\r\nhello').state, 'faulty')
  })

  test('are lost when Connection names them', () => {
    const reader = new BodyReader('chunked', 0, new Set(['x-a']))
    reader.next(Buffer.from('0\r\nX-A: 1\r\nX-B: 2\r\n\r\n'), 0)
    deepEqual(reader.trailers, ['X-B', '2'])
  })
})

describe('the reader', () => {
  test('understands the same wherever the bytes are cut', () => {
    const framings = fc.constantFrom<Framing>('chunked', 'chunked', 'chunked', 'length', 'close')
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 })
    fc.assert(
      fc.property(framings, nearlyChunked(), cuts, (framing, text, cuts) => {
        deepEqual(read(framing, 40, pieces(text, cuts)), read(framing, 40, [text]))
      }),
      { numRuns: 1000 },
    )
  })

  test('understands a size that is cut between its digits', () => {
    const { state, data } = read('chunked', 0, ['1', '1\r\n0123456789abcdefg\r\n0\r\n\r\n'])
    deepEqual([state, data], ['done', '0123456789abcdefg'])
  })

  test('understands the same byte by byte', () => {
    fc.assert(fc.property(nearlyChunked(), text => deepEqual(read('chunked', 0, [...text]), chunked(text))))
  })

  test('neither throws nor stands still, whatever comes', () => {
    const framings = fc.constantFrom<Framing>('chunked', 'length', 'close')
    fc.assert(
      fc.property(framings, fc.uint8Array({ maxLength: 200 }), (framing, bytes) => {
        const { state, consumed } = read(framing, 50, [Buffer.from(bytes).toString('latin1')])
        ok(state === 'faulty' || state === 'done' || consumed === bytes.length)
      }),
      { numRuns: 500 },
    )
  })
})

function chunked(text: string): Outcome {
  return read('chunked', 0, [text])
}

/** Reads a body that comes in pieces, until it ends one way or the other. */
function read(framing: Framing, length: number, pieces: readonly string[]): Outcome {
  const reader = new BodyReader(framing, length)
  let data = ''
  let consumed = 0
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1')
    let at = 0
    while (at < bytes.length && !reader.done && !reader.faulty) {
      const before = at
      at = reader.next(bytes, at)
      ok(reader.faulty || (at > before && reader.from >= before && reader.to <= at))
      data += bytes.toString('latin1', reader.from, reader.to)
    }
    consumed += at
  }
  if (reader.faulty) return { state: 'faulty', data, consumed: -1, trailers: null }
  return { state: reader.done ? 'done' : 'open', data, consumed, trailers: reader.trailers }
}

function pieces(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.filter(cut => cut < text.length).sort((a, b) => a - b), text.length]
  return places.slice(1).map((to, i) => text.slice(places[i], to))
}

/** Makes chunked bodies with what follows them, with a byte changed in every second one. */
function nearlyChunked(): fc.Arbitrary<string> {
  const data = fc.string({ unit: fc.constantFrom('a', '\r', '\n', '0', '\xff'), minLength: 1, maxLength: 20 })
  const extension = fc.constantFrom('', '', ';a', ';a="b"', ';a="\\"')
  const chunk = fc
    .tuple(data, extension)
    .map(([data, extension]) => `${data.length.toString(16)}${extension}\r\n${data}\r\n`)
  const trailers = fc.constantFrom(
    '',
    '',
    'X-A: 1\r\n',
    'X-A: 1\r\nHost: b\r\n',
    'Content-Length: 1\r\n',
    ' f\r\n',
  )
  const mutation = fc.option(
    fc.tuple(fc.nat({ max: 200 }), fc.constantFrom('', '\r', '\n', '\0', '0', 'x', ';')),
  )
  return fc
    .tuple(
      fc.array(chunk, { maxLength: 5 }),
      trailers,
      fc.constantFrom('', 'GET / HTTP/1.1\r\n\r\n'),
      mutation,
    )
    .map(([chunks, trailers, next, mutation]) => {
      const text = `${chunks.join('')}0\r\n${trailers}\r\n${next}`
      if (mutation === null) return text
      return text.slice(0, mutation[0]) + mutation[1] + text.slice(mutation[0] + 1)
    })
}
