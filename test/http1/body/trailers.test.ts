import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { TrailerSection } from '../../../src/http1/body/trailers.ts'

describe('a trailer section', () => {
  test('may be no more than an empty line', () => {
    deepEqual(read('\r\nGET /'), { state: 'done', fields: null, end: 2 })
  })

  test('is kept line by line, and leaves what follows alone', () => {
    const text = 'X-Checksum: abc\r\ngrpc-status: 0\r\n\r\n'
    const fields = ['X-Checksum', 'abc', 'grpc-status', '0']
    deepEqual(read(`${text}GET /`), { state: 'done', fields, end: text.length })
  })

  for (const name of ['Content-Length', 'content-length', 'Transfer-Encoding'])
    test(`is refused when ${name} would frame the message a second time`, () => {
      equal(read(`${name}: 5\r\n\r\nhello`).state, 'faulty')
    })

  const late = [
    ...['Host', 'Authorization', 'Proxy-Authorization', 'Cookie', 'Set-Cookie', 'WWW-Authenticate'],
    ...['Content-Type', 'Content-Encoding', 'Content-Range', 'Cache-Control', 'Vary', 'Location'],
    ...['Age', 'Expires', 'Pragma', 'Warning', 'Range', 'If-Match', 'If-None-Match', 'If-Range'],
    ...['If-Modified-Since', 'If-Unmodified-Since', 'set_cookie', 'WWW_Authenticate'],
    ...['Max-Forwards', 'Expect', 'TE', 'Connection', 'Upgrade', 'Trailer', 'Date', 'Retry-After'],
    ...['X-Forwarded-For', 'X-Forwarded-Host', 'Forwarded', 'Via', 'CDN-Loop', 'svc-ray', 'content_length'],
  ]
  for (const name of late)
    test(`loses ${name}, which may not come so late`, () => {
      deepEqual(read(`${name}: x\r\nX-A: 1\r\n\r\n`).fields, ['X-A', '1'])
    })

  test('loses what Connection names, in any case', () => {
    deepEqual(read('X-A: 1\r\nx-a: 2\r\nX-B: 3\r\n\r\n', new Set(['x-a'])).fields, ['X-B', '3'])
  })

  const faulty = [
    ['a folded line', 'X-A: 1\r\n 2\r\n\r\n'],
    ['a space before a colon', 'X-A : 1\r\n\r\n'],
    ['a line without a colon', 'GET / HTTP/1.1\r\n\r\n'],
    ['a bare LF', 'X-A: 1\nX-B: 2\r\n\r\n'],
    ['an LF behind a byte in place of the empty line', 'x\n\r\n'],
    ['a bare LF as the empty line', '\nGET / HTTP/1.1\r\n\r\n'],
    ['a bare CR', 'X-A: 1\rX-B: 2\r\n\r\n'],
    ['a NUL', 'X-A: \0\r\n\r\n'],
    ['more than 16 KiB', `X-A: ${'x'.repeat(17 * 1024)}\r\n\r\n`],
  ] as const
  for (const [hole, text] of faulty) test(`is refused for ${hole}`, () => equal(read(text).state, 'faulty'))

  const hopeless = [
    ['a bare LF', 'X-A: 1\n'],
    ['a bare CR', 'X-A: 1\rX'],
    ['a NUL', 'X-A: \0'],
    ['more than 16 KiB', `X-A: ${'x'.repeat(17 * 1024)}`],
  ] as const
  for (const [hole, text] of hopeless)
    test(`is not waited for after ${hole}`, () => equal(read(text).state, 'faulty'))

  test('may have 16 KiB, with the empty line', () => {
    const lines = `X-A: ${'x'.repeat(16 * 1024 - 'X-A: \r\n\r\n'.length)}\r\n`
    equal(read(`${lines}\r\n`).state, 'done')
    equal(read(`x${lines}\r\n`).state, 'faulty')
    equal(read(`x${lines}\r`).state, 'open')
    equal(read(`xx${lines}\r`).state, 'faulty')
  })

  test('is neither done nor faulty before it has begun', () => {
    deepEqual(outcome(new TrailerSection(null), 0), { state: 'open', fields: null, end: 0 })
  })

  test('may be cut within its empty line', () => {
    const section = new TrailerSection(null)
    equal(section.next(latin1('\r'), 0), 1)
    equal(section.next(latin1('\nGET /'), 0), 1)
    equal(section.done, true)
  })

  test('is understood the same wherever it is cut', () => {
    const line = fc.constantFrom(
      'X-A: 1\r\n',
      'x-b:\r\n',
      'Host: a\r\n',
      'X-C: 3\n',
      ' fold\r\n',
      'TE: 4\r\n',
    )
    const text = fc.array(line, { maxLength: 4 }).map(lines => `${lines.join('')}\r\nGET / HTTP/1.1\r\n\r\n`)
    fc.assert(
      fc.property(text, fc.nat({ max: 40 }), (text, cut) => {
        const section = new TrailerSection(null)
        const [first, second] = [latin1(text.slice(0, cut)), latin1(text.slice(cut))]
        let end = section.next(first, 0)
        if (!section.done && !section.faulty) end = first.length + section.next(second, 0)
        deepEqual(outcome(section, end), read(text))
      }),
    )
  })
})

function read(text: string, hopByHop: ReadonlySet<string> | null = null) {
  const section = new TrailerSection(hopByHop)
  return outcome(section, section.next(latin1(text), 0))
}

function outcome({ done, faulty, fields }: TrailerSection, end: number) {
  if (faulty) return { state: 'faulty' }
  return { state: done ? 'done' : 'open', fields, end }
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
