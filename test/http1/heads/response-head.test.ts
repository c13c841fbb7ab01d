import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { crossingLines } from '../../../src/http1/fields/fields.ts'
import { endOfHead } from '../../../src/http1/fields/field-lines.ts'
import {
  parseResponseHead,
  responseBody,
  type ResponseFault,
  type ResponseHead,
} from '../../../src/http1/heads/response-head.ts'

describe('a status line', () => {
  const good = [
    ['HTTP/1.1 200 OK', 200, 'OK'],
    ['HTTP/1.0 404 Not Found', 404, 'Not Found'],
    ['HTTP/1.1 204 ', 204, ''],
    ['HTTP/1.1 204', 204, ''],
    ['HTTP/1.1 200  two  spaces ', 200, ' two  spaces '],
    ['HTTP/1.1 200 \xe4\tb', 200, '\xe4\tb'],
    ['HTTP/1.1 999 Denied', 999, 'Denied'],
    ['HTTP/1.1 100 Continue', 100, 'Continue'],
    ['HTTP/1.1 103 Early Hints', 103, 'Early Hints'],
    ['HTTP/1.2 200 OK', 200, 'OK'],
    ['HTTP/1.9 404 Not Found', 404, 'Not Found'],
  ] as const
  for (const [line, status, reason] of good)
    test(`gives status and reason of "${line}"`, () => {
      const head = accepted(`${line}\r\n\r\n`)
      deepEqual([head.status, head.reason], [status, reason])
    })

  const bad = [
    ['version 2', 'HTTP/2.0 200 OK'],
    ['version 2 without a minor part', 'HTTP/2 200 OK'],
    ['a minor version of two digits', 'HTTP/1.10 200 OK'],
    ['small letters', 'http/1.1 200 OK'],
    ['another protocol', 'ICY 200 OK'],
    ['no version, as in HTTP/0.9', '<html>'],
    ['a tab between its parts', 'HTTP/1.1\t200 OK'],
    ['two spaces before the status', 'HTTP/1.1  200 OK'],
    ['a space before the version', ' HTTP/1.1 200 OK'],
    ['a status of two digits', 'HTTP/1.1 20 OK'],
    ['a status of four digits', 'HTTP/1.1 2000 OK'],
    ['a status below 100', 'HTTP/1.1 099 Odd'],
    ['a status with a sign', 'HTTP/1.1 +20 OK'],
    ['a status in letters', 'HTTP/1.1 abc OK'],
    ['a byte above the digits in the status', 'HTTP/1.1 20: OK'],
    ['a byte below the digits in the status', 'HTTP/1.1 20/ OK'],
    ['no status', 'HTTP/1.1'],
    ['no space behind the status', 'HTTP/1.1 200OK'],
    ['a NUL in the reason', 'HTTP/1.1 200 O\0K'],
    ['a bare CR in the reason', 'HTTP/1.1 200 O\rK'],
    ['a bare LF as its end', 'HTTP/1.1 200 OK\nX: a'],
    ['a bare CR as its end', 'HTTP/1.1 200 OK\rxX: a'],
    ['a NUL in place of the CR at its end', 'HTTP/1.1 200 OK\0\nX: a'],
  ] as const
  for (const [hole, line] of bad)
    test(`is refused for ${hole}`, () => equal(parse(`${line}\r\n\r\n`), 'unparsable'))
})

describe('the fields of an answer', () => {
  test('stand as they came, repeated ones too', () => {
    const head = accepted('HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX:\r\nset-cookie:b=2 \r\n\r\n')
    deepEqual(head.fields, ['Set-Cookie', 'a=1', 'X', '', 'set-cookie', 'b=2'])
  })

  const bad = [
    ['a folded line', 'X: a\r\n b\r\n'],
    ['a space before a colon', 'X : a\r\n'],
    ['a line without a colon', 'X\r\n'],
    ['a bare LF, behind which another field stands', 'X: a\nSet-Cookie: b\r\n'],
    ['a bare CR', 'X: a\rSet-Cookie: b\r\n'],
    ['a NUL', 'X: \0\r\n'],
    ['a name that is no token', 'X Y: a\r\n'],
  ] as const
  for (const [hole, lines] of bad)
    test(`are refused for ${hole}`, () => equal(parse(`HTTP/1.1 200 OK\r\n${lines}\r\n`), 'unparsable'))

  test('tell of a date, a coding and an event stream', () => {
    const head = accepted(
      'HTTP/1.1 200 OK\r\nDate: x\r\nContent-Encoding: gzip\r\nContent-Type: text/event-stream\r\n\r\n',
    )
    deepEqual([head.hasDate, head.isEncoded, head.isEventStream], [true, true, true])
  })

  test('tell of none of these where they are missing', () => {
    const head = accepted('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n')
    deepEqual([head.hasDate, head.isEncoded, head.isEventStream], [false, false, false])
  })

  test('tell of an upgrade, of what the body is, and of how it may be cached', () => {
    const head = accepted(
      'HTTP/1.1 101 X\r\nUpgrade: a\r\nContent-Type: b\r\nContent-Encoding: c\r\ncontent-encoding: d\r\nCACHE-Control: e\r\n\r\n',
    )
    deepEqual([head.upgrade, head.contentType, head.contentEncoding], ['a', 'b', 'c, d'])
    deepEqual([head.hasCacheControl, head.hasCacheControl], [true, true])
    const plain = accepted('HTTP/1.1 200 OK\r\nX: cache-control\r\n\r\n')
    deepEqual([plain.upgrade, plain.contentType, plain.contentEncoding], [null, null, null])
    deepEqual([plain.hasCacheControl, plain.neverIndexed], [false, false])
  })

  for (const [line, told] of [
    ['Content-Length: 1', { contentLength: 1 }],
    ['Transfer-Encoding: chunked', { chunked: true }],
    ['Connection: timeout=5', { connection: 'timeout=5', hopByHop: new Set(['timeout=5']) }],
    ['Connection: a\r\nConnection: b', { connection: 'a, b', hopByHop: new Set(['a', 'b']) }],
    ['Keep-Alive: timeout=5', { keepAliveTimeout: 5 }],
    ['Upgrade: x', { upgrade: 'x' }],
    ['Date: NTLM', { hasDate: true }],
    ['WWW-Authenticate: Basic', {}],
    ['Persistent-Auth: false', {}],
    ['Content-Encoding: x', { contentEncoding: 'x' }],
    ['Content-Type: x', { contentType: 'x' }],
  ] as const)
    test(`tell of nothing else: ${line.replace('\r\n', ', ')}`, () => {
      const plain = { ...accepted('HTTP/1.1 200 OK\r\n\r\n') }
      equal(plain.isEventStream, false)
      const { fields, ids } = plain
      deepEqual({ ...accepted(`HTTP/1.1 200 OK\r\n${line}\r\n\r\n`), fields, ids }, { ...plain, ...told })
    })

  for (const [lines, authenticates] of [
    ['X: NTLM', false],
    ['WWW-Authenticate: Basic', false],
    ['WWW-Authenticate: NTLM', true],
    ['WWW-Authenticate: Negotiate\r\nWWW-Authenticate: Basic', true],
    ['Proxy-Authenticate: Kerberos', true],
    ['Persistent-Auth: true', true],
    ['Persistent-Auth: FALSE', false],
    ['WWW-Authenticate: NTLM\r\nPersistent-Auth: false', true],
  ] as const)
    test(`tell that ${authenticates ? 'the connection' : 'no more than the request'} is authenticated: ${lines.replace('\r\n', ', ')}`, () => {
      equal(accepted(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`).authenticatesConnection, authenticates)
    })

  test('are up to a thousand', () => {
    const lines = (count: number) => `HTTP/1.1 200 OK\r\n${'X:\r\n'.repeat(count)}\r\n`
    equal(accepted(lines(1000)).ids.length, 1000)
    equal(parse(lines(1001)), 'unparsable')
  })

  test('have up to 1024 characters of connection options', () => {
    const connection = (options: string) => `HTTP/1.1 200 OK\r\nConnection: ${options}\r\n\r\n`
    deepEqual(accepted(connection('x,'.repeat(512))).hopByHop, new Set(['x']))
    equal(parse(connection('x,'.repeat(513))), 'unparsable')
  })

  const streams = [
    ['text/event-stream', true],
    ['Text/Event-Stream', true],
    ['text/event-stream;charset=utf-8', true],
    ['text/event-stream ; charset=utf-8', true],
    ['text/event', false],
    ['text/event-streams', false],
    ['text/event-stream+json', false],
    ['text/html; charset=utf-8', false],
  ] as const
  for (const [type, isEventStream] of streams)
    test(`${isEventStream ? 'make' : 'make no'} event stream of ${type}`, () => {
      equal(accepted(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n\r\n`).isEventStream, isEventStream)
    })
})

describe('the framing of an answer', () => {
  const framed = [
    ['the length it says', 'GET', '200', 'Content-Length: 42\r\n', 'length'],
    ['a length of nought', 'GET', '200', 'Content-Length: 0\r\n', 'length'],
    ['a length said twice over', 'GET', '200', 'Content-Length: 42\r\ncontent-length: 042\r\n', 'length'],
    ['chunks', 'GET', '200', 'Transfer-Encoding: Chunked\r\n', 'chunked'],
    ['the end of the connection without a word', 'GET', '200', '', 'close'],
    ['nothing for HEAD, whatever it says', 'HEAD', '200', 'Content-Length: 42\r\n', 'none'],
    ['nothing for HEAD with chunks', 'HEAD', '200', 'Transfer-Encoding: chunked\r\n', 'none'],
    ['nothing for 304, whatever it says', 'GET', '304', 'Content-Length: 42\r\n', 'none'],
    ['nothing for 204', 'GET', '204', '', 'none'],
    ['nothing for 204 with a length of nought', 'GET', '204', 'Content-Length: 0\r\n', 'none'],
  ] as const
  for (const [what, method, status, lines, framing] of framed)
    test(`is ${what}`, () => equal(framingOf(`HTTP/1.1 ${status} X\r\n${lines}\r\n`, method), framing))

  const broken = [
    ['two lengths that differ', '200', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
    ['two lengths on one line', '200', 'Content-Length: 5, 5\r\n'],
    ['a length with a sign', '200', 'Content-Length: +5\r\n'],
    ['a length that overflows', '200', 'Content-Length: 18446744073709551621\r\n'],
    ['an empty length', '200', 'Content-Length:\r\n'],
    ['a length beside chunks', '200', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
    ['chunks beside a length', '200', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'],
    ['chunked twice', '200', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
    ['a coding under the chunks', '200', 'Transfer-Encoding: gzip, chunked\r\n'],
    ['another coding', '200', 'Transfer-Encoding: gzip\r\n'],
    ['identity', '200', 'Transfer-Encoding: identity\r\n'],
    ['a coding that only begins so', '200', 'Transfer-Encoding: chunkedx\r\n'],
    ['204 with a length', '204', 'Content-Length: 5\r\n'],
    ['204 with chunks', '204', 'Transfer-Encoding: chunked\r\n'],
  ] as const
  for (const [hole, status, lines] of broken)
    test(`is broken by ${hole}`, () => equal(framingOf(`HTTP/1.1 ${status} X\r\n${lines}\r\n`), 'framing'))

  test('is broken by chunks in HTTP/1.0', () => {
    equal(framingOf('HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'), 'framing')
  })

  test('names the trailers that end at this hop', () => {
    const head = accepted('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: X-A\r\n\r\n')
    const body = responseBody(head, 'GET')
    ok(typeof body !== 'string')
    body.next(Buffer.from('0\r\nX-A: 1\r\nX-B: 2\r\n\r\n'), 0)
    deepEqual(body.trailers, ['X-B', '2'])
  })

  test('takes no underscore twin for the word on framing', () => {
    const head = accepted('HTTP/1.1 200 OK\r\nContent_Length: 5\r\nTransfer_Encoding: chunked\r\n\r\n')
    equal(framingOf('HTTP/1.1 200 OK\r\nContent_Length: 5\r\n\r\n'), 'close')
    equal(crossingLines(head), 'Content_Length: 5\r\nTransfer_Encoding: chunked\r\n')
  })
})

describe('the connection behind an answer', () => {
  const cases = [
    ['HTTP/1.1', '', true],
    ['HTTP/1.1', 'Connection: keep-alive\r\n', true],
    ['HTTP/1.1', 'Connection: CLOSE\r\n', false],
    ['HTTP/1.1', 'Connection: x\r\nConnection: close\r\n', false],
    ['HTTP/1.0', '', false],
    ['HTTP/1.0', 'Connection: Keep-Alive\r\n', true],
    ['HTTP/1.0', 'Connection: keep-alive, close\r\n', false],
  ] as const
  for (const [version, lines, keepAlive] of cases)
    test(`${keepAlive ? 'stays open' : 'ends'} for ${version} ${lines.trim().replace('\r\n', ', ')}`, () => {
      equal(accepted(`${version} 200 OK\r\n${lines}\r\n`).keepAlive, keepAlive)
    })

  const grants = [
    ['timeout=5', 5],
    ['timeout=5, max=100', 5],
    ['max=100,Timeout=75', 75],
    ['max=100', -1],
    ['timeout=', -1],
    ['timeout=-5', -1],
    ['timeout=5s', -1],
    ['timeout=99999999999', -1],
    ['xtimeout=5', -1],
  ] as const
  for (const [value, seconds] of grants)
    test(`is granted ${seconds} s by "${value}"`, () => {
      equal(accepted(`HTTP/1.1 200 OK\r\nKeep-Alive: ${value}\r\n\r\n`).keepAliveTimeout, seconds)
    })
})

describe('parseResponseHead', () => {
  test('reads the second of two heads in one buffer', () => {
    const first = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
    const bytes = Buffer.from(`${first}HTTP/1.1 200 OK\r\nX: y\r\n\r\nbody`, 'latin1')
    const head = parseResponseHead(bytes, first.length, endOfHead(bytes, first.length))
    ok(typeof head !== 'string')
    deepEqual([head.status, head.reason, head.fields], [200, 'OK', ['X', 'y']])
  })

  test('gives what crosses exactly as it was sent', () => {
    const value = fc.stringMatching(/^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/)
    const line = fc.tuple(fc.stringMatching(/^X-[\w!#$%&'*+.^`|~]{1,10}$/), value)
    const reason = fc.stringMatching(/^[\t -~\x80-\xff]{0,30}$/)
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 999 }), reason, fc.array(line), (status, reason, lines) => {
        const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        const head = accepted(`HTTP/1.1 ${status} ${reason}\r\nConnection: keep-alive\r\n${text}\r\n`)
        deepEqual([head.status, head.reason, crossingLines(head)], [status, reason, text])
      }),
    )
  })

  test('never throws, whatever comes', () => {
    const good =
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive, x\r\nKeep-Alive: timeout=5\r\n\r\n'
    const piece = fc.constantFrom(
      ...'\r\n\0\t :,;-_=05aX\x7f\x80\xff',
      '\r\n',
      'chunked',
      'Transfer-Encoding:',
    )
    const changed = fc
      .tuple(fc.nat({ max: good.length }), fc.nat({ max: 2 }), piece)
      .map(([at, removed, piece]) =>
        Buffer.from(good.slice(0, at) + piece + good.slice(at + removed), 'latin1'),
      )
    const random = fc
      .uint8Array({ maxLength: 200 })
      .map(bytes => Buffer.concat([bytes, Buffer.from('\r\n\r\n')]))
    fc.assert(
      fc.property(fc.oneof(changed, random), fc.constantFrom('GET', 'HEAD'), (bytes, method) => {
        const end = endOfHead(bytes, 0)
        if (end === -1) return
        const head = parseResponseHead(bytes, 0, end)
        if (typeof head === 'string') return ok(head === 'unparsable' || head === 'framing')
        const body = responseBody(head, method)
        ok(body === 'framing' || typeof body !== 'string')
      }),
      { numRuns: 1000 },
    )
  })
})

function parse(text: string): ResponseHead | ResponseFault {
  const bytes = Buffer.from(text, 'latin1')
  return parseResponseHead(bytes, 0, endOfHead(bytes, 0))
}

function accepted(text: string): ResponseHead {
  const head = parse(text)
  ok(typeof head !== 'string', `refused as ${head}`)
  return head
}

function framingOf(text: string, method = 'GET'): string {
  const head = parse(text)
  if (typeof head === 'string') return head
  const body = responseBody(head, method)
  return typeof body === 'string' ? body : body.framing
}
