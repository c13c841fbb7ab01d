import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { crossingLines } from '../../../src/http1/fields/fields.ts'
import { RepeatedResponseHead } from '../../../src/http1/heads/repeated-response-head.ts'
import type { ResponseFault, ResponseHead } from '../../../src/http1/heads/response-head.ts'

describe('response heads that an origin repeats', () => {
  test('are read once', () => {
    const heads = new RepeatedResponseHead()
    const first = parse(heads, ok('X: 1'))
    equal(parse(heads, ok('X: 1')), first)
    notEqual(parse(heads, ok('X: 2')), first)
    notEqual(parse(heads, ok('X: 1')), first)
  })

  test('are read anew after a close, and when they are large or faulty', () => {
    for (const lines of ['Connection: close', `X: ${'a'.repeat(5000)}`]) {
      const heads = new RepeatedResponseHead()
      notEqual(parse(heads, ok(lines)), parse(heads, ok(lines)))
    }
    const heads = new RepeatedResponseHead()
    const first = parse(heads, ok('X: 1'))
    equal(parse(heads, ok('X : 1')), 'unparsable')
    equal(parse(heads, ok('X: 1')), first)
  })

  test('are remembered up to 4 KiB', () => {
    for (const [size, isSame] of [
      [4096, true],
      [4097, false],
    ] as const) {
      const heads = new RepeatedResponseHead()
      const text = ok(`X: ${'a'.repeat(size - ok('X: ').length)}`)
      const [first, again] = [parse(heads, text), parse(heads, text)]
      equal(first === again, isSame)
    }
  })

  test('are remembered from the first final status on', () => {
    const heads = new RepeatedResponseHead()
    for (const [status, isSame] of [
      [199, false],
      [200, true],
    ] as const) {
      const text = `HTTP/1.1 ${status} X\r\n\r\n`
      const [first, again] = [parse(heads, text), parse(heads, text)]
      equal(first === again, isSame)
    }
  })

  test('share the lines that they pass on', () => {
    const heads = new RepeatedResponseHead()
    const [first, again] = [parse(heads, ok('X: 1')), parse(heads, ok('X: 1'))]
    equal(first, again)
    equal((again as ResponseHead).crossing(), 'X: 1\r\n')
  })

  test('outlast interim ones', () => {
    const heads = new RepeatedResponseHead()
    const first = parse(heads, ok('X: 1'))
    parse(heads, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
    equal(parse(heads, ok('X: 1')), first)
  })

  test('are read as those that come once', () => {
    fc.assert(
      fc.property(fc.array(head, { minLength: 2, maxLength: 8 }), texts => {
        const heads = new RepeatedResponseHead()
        for (const text of texts) {
          const again = parse(heads, text)
          const once = parse(new RepeatedResponseHead(), text)
          deepEqual(shown(again), shown(once), JSON.stringify(texts))
        }
      }),
      { numRuns: 2000 },
    )
  })
})

const ok = (lines: string): string => `HTTP/1.1 200 OK\r\n${lines}\r\nContent-Length: 2\r\n\r\n`

/** Few of each, so that heads come again, with what could be taken for them. */
const head = fc
  .tuple(
    fc.constantFrom(
      'HTTP/1.1 200 OK',
      'HTTP/1.1 200 KO',
      'HTTP/1.0 200 OK',
      'HTTP/1.1 304 ',
      'HTTP/1.1 103 Hi',
    ),
    fc.array(
      fc.constantFrom(
        'X: 1\r\n',
        'X: 2\r\n',
        'X : 1\r\n',
        'Content-Length: 5\r\n',
        'Content-Length: 6\r\n',
        'Transfer-Encoding: chunked\r\n',
        'Connection: X\r\n',
        'Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n',
        'Set-Cookie: a=b\r\n',
        'Date: now\r\n',
        `X: ${'y'.repeat(4090)}\r\n`,
      ),
      { maxLength: 3 },
    ),
  )
  .map(([line, fields]) => `${line}\r\n${fields.join('')}\r\n`)

/** Parses a head between other bytes, as it may lie in what was read. */
function parse(heads: RepeatedResponseHead, text: string): ResponseHead | ResponseFault {
  const bytes = Buffer.from(`\r\n${text}body`, 'latin1')
  return heads.parse(bytes, 2, 2 + text.length)
}

function shown(head: ResponseHead | ResponseFault): unknown {
  return typeof head === 'string' ? head : [{ ...head }, head.crossing(), crossingLines(head)]
}
