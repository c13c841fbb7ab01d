import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { crossingLines, field } from '../../../src/http1/fields/fields.ts'
import { endOfHead, mayContinue } from '../../../src/http1/fields/field-lines.ts'
import {
  overLimit,
  parseRequestHead,
  RequestHead,
  requestBody,
  startsBadly,
} from '../../../src/http1/heads/request-head.ts'
import type { HeadFault } from '../../../src/http1/heads/request-line.ts'

const limits = { url: 100, headerSection: 1000, headers: 100 }
const roomy = { ...limits, headerSection: 4000 }

describe('Host', () => {
  test('is given as it came', () => {
    equal(accepted('GET / HTTP/1.1\r\nhOST:\t A.Example:80 \r\n\r\n').host, 'A.Example:80')
  })

  const bad = [
    ['is missing in HTTP/1.1', 'GET / HTTP/1.1\r\n\r\n'],
    ['is missing beside an absolute target', 'GET http://a.example/ HTTP/1.1\r\n\r\n'],
    ['comes twice', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['comes twice with the same value', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n'],
    ['comes twice, once empty', 'GET / HTTP/1.1\r\nHost:\r\nHost: a\r\n\r\n'],
    ['comes twice in HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['has a space before its colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['is folded', 'GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n'],
  ] as const
  for (const [hole, text] of bad)
    test(`makes a bad request when it ${hole}`, () => equal(parse(text), 'bad_request'))
})

test('a request with more than 1024 characters of connection options is refused', () => {
  const connection = (options: string) => `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${options}\r\n\r\n`
  ok(typeof parse(connection('x,'.repeat(512)), roomy) === 'object')
  equal(parse(connection('x,'.repeat(513)), roomy), 'http_headers_exceed_limit')
})

test('a head with other lines differs from it in nothing else', () => {
  const lines = [
    'POST /a?b HTTP/1.0',
    ...['Host: a', 'Content-Length: 3', 'Connection: keep-alive, X-Hop', 'X-Hop: 1', 'Expect: 100-continue'],
    ...['Accept: text/html', 'X-Forwarded-For: 192.0.2.1', 'Via: 1.1 x', 'CDN-Loop: y'],
    ...['traceparent: 00-a', 'tracestate: k=v'],
  ]
  const upgrading = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'
  const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const closing = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  for (const head of [`${lines.join('\r\n')}\r\n\r\n`, upgrading, chunked, closing].map(accepted)) {
    const others = {
      fields: ['X-User', 'u', 'X', '1'],
      ids: [field.other, field.other],
      hopByHop: new Set(['x']),
    }
    const changed = head.withLines(others)
    deepEqual({ ...changed }, { ...head, ...others })
    equal(changed.crossing(), 'X-User: u\r\n')
  }
})

describe('the lines that are passed on', () => {
  test('include cookies of this gateway only for its own servers', () => {
    const head = accepted('GET / HTTP/1.1\r\nHost: a\r\nCookie: gatehouse=s; b=2\r\n\r\n')
    equal(head.crossing(), 'Cookie: b=2\r\n')
    equal(head.crossing(true), 'Cookie: gatehouse=s; b=2\r\n')
  })

  test('include those of the trace, for its own servers too', () => {
    const head = accepted('GET / HTTP/1.1\r\nHost: a\r\ntraceparent: 00-a\r\n\r\n')
    equal(head.crossing(), 'traceparent: 00-a\r\n')
    equal(head.crossing(true), 'traceparent: 00-a\r\n')
  })
})

describe('trace context', () => {
  const traced = (lines: string) => accepted(`GET / HTTP/1.1\r\nHost: a\r\n${lines}\r\n`)

  test('is read from traceparent and all tracestate lines', () => {
    const head = traced('traceparent: 00-a-b-00\r\ntracestate: a=1\r\nTraceState: b=2\r\n')
    deepEqual([head.traceparent, head.tracestate], ['00-a-b-00', 'a=1, b=2'])
  })

  test('is unknown when traceparent comes twice', () => {
    equal(traced('traceparent: 00-a-b-00\r\ntraceparent: 00-a-b-00\r\n').traceparent, '')
  })
})

describe('the framing of a request', () => {
  const framed = [
    ['no body without a word about it', '', 'none', -1],
    ['no body for a length of nought', 'Content-Length: 0\r\n', 'none', 0],
    ['a body of the length it says', 'Content-Length: 42\r\n', 'length', 42],
    ['a body of the length with noughts before it', 'content-length:\t0042 \r\n', 'length', 42],
    ['a chunked body', 'Transfer-Encoding: chunked\r\n', 'chunked', -1],
    ['a chunked body in any case', 'transfer-encoding:CHUNKED\r\n', 'chunked', -1],
  ] as const
  for (const [what, lines, framing, length] of framed)
    test(`is ${what}`, () => {
      const head = accepted(`POST / HTTP/1.1\r\nHost: a\r\n${lines}\r\n`)
      equal(requestBody(head).framing, framing)
      equal(head.contentLength, length)
    })

  const smuggling = [
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
    ['two lengths that agree', 'Content-Length: 5\r\nContent-Length: 5\r\n'],
    ['two lengths on one line', 'Content-Length: 5, 6\r\n'],
    ['two equal lengths on one line', 'Content-Length: 5, 5\r\n'],
    ['a length with a sign', 'Content-Length: +5\r\n'],
    ['a negative length', 'Content-Length: -1\r\n'],
    ['a length in hexadecimal', 'Content-Length: 0x5\r\n'],
    ['a length that overflows', 'Content-Length: 18446744073709551621\r\n'],
    ['an empty length', 'Content-Length:\r\n'],
    ['a length behind a vertical tab', 'Content-Length: \x0b5\r\n'],
    ['CL.TE: a length, then chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
    ['TE.CL: chunks, then a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'],
    ['CL.TE with a length of nought', 'Content-Length: 0\r\nTransfer-Encoding: chunked\r\n'],
    ['TE.TE: chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
    ['TE.TE: chunked, then another', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n'],
    ['TE.TE: another, then chunked', 'Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n'],
    ['TE.TE: identity beside chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
    ['TE.0: identity', 'Transfer-Encoding: identity\r\n'],
    ['TE.0: a coding without chunked', 'Transfer-Encoding: gzip\r\n'],
    ['TE.0: no coding', 'Transfer-Encoding:\r\n'],
    ['TE.TE: chunked twice on one line', 'Transfer-Encoding: chunked, chunked\r\n'],
    ['TE.TE: chunked on both sides of another', 'Transfer-Encoding: chunked, x, chunked\r\n'],
    ['chunks under another coding', 'Transfer-Encoding: chunked, gzip\r\n'],
    ['chunks under identity', 'Transfer-Encoding: chunked, identity\r\n'],
    ['a coding that only begins so', 'Transfer-Encoding: chunkedx\r\n'],
    ['a coding that only ends so', 'Transfer-Encoding: xchunked\r\n'],
    ['a coding with a parameter', 'Transfer-Encoding: chunked;q=1\r\n'],
    ['a coding in quotes', 'Transfer-Encoding: "chunked"\r\n'],
    ['a coding behind a comma', 'Transfer-Encoding: ,chunked\r\n'],
    ['a coding before a comma', 'Transfer-Encoding: chunked,\r\n'],
    ['two codings without a comma', 'Transfer-Encoding: x chunked\r\n'],
    ['a coding behind a vertical tab', 'Transfer-Encoding: \x0bchunked\r\n'],
    ['a coding behind a no-break space', 'Transfer-Encoding: \xa0chunked\r\n'],
    ['a coding before a NUL', 'Transfer-Encoding: chunked\0\r\n'],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\n'],
    ['a coding on a folded line', 'Transfer-Encoding:\r\n chunked\r\n'],
    ['a coding behind a bare LF', 'X: a\nTransfer-Encoding: chunked\r\n'],
    ['a coding behind a bare CR', 'X: a\rTransfer-Encoding: chunked\r\n'],
  ] as const
  for (const [hole, lines] of smuggling)
    test(`is refused for ${hole}`, () => {
      equal(parse(`POST / HTTP/1.1\r\nHost: a\r\n${lines}\r\n`), 'bad_request')
    })

  test('is refused for chunks in HTTP/1.0, which does not define them', () => {
    equal(parse('POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n'), 'bad_request')
  })

  for (const value of ['gzip, chunked', 'GZIP ,\tChunked', 'gzip,deflate,chunked', 'xchunked, chunked'])
    test(`is refused by name for a coding under the chunks that nobody here undoes: ${value}`, () => {
      equal(parse(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${value}\r\n\r\n`), 'not_implemented')
    })

  test('names the trailers that end at this hop', () => {
    const head = accepted(
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: X-A\r\n\r\n',
    )
    const body = requestBody(head)
    body.next(latin1('0\r\nX-A: 1\r\nX-B: 2\r\n\r\n'), 0)
    deepEqual(body.trailers, ['X-B', '2'])
  })

  test('takes no underscore twin for the word on framing', () => {
    const head = accepted(
      'POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 5\r\nTransfer_Encoding: chunked\r\n\r\n',
    )
    equal(requestBody(head).framing, 'none')
    equal(crossingLines(head), '')
  })
})

describe('persistence', () => {
  test('is what a head begins with: over HTTP/2, no line speaks of it', () => {
    equal(new RequestHead().keepAlive, true)
  })

  const cases = [
    ['HTTP/1.1', '', true],
    ['HTTP/1.1', 'Connection: keep-alive\r\n', true],
    ['HTTP/1.1', 'Connection: Close\r\n', false],
    ['HTTP/1.1', 'Connection: keep-alive, close\r\n', false],
    ['HTTP/1.1', 'Connection: keep-alive\r\nConnection: x, close\r\n', false],
    ['HTTP/1.1', 'Connection: closed\r\n', true],
    ['HTTP/1.1', 'Proxy-Connection: close\r\n', true],
    ['HTTP/1.0', '', false],
    ['HTTP/1.0', 'Connection: Keep-Alive\r\n', true],
    ['HTTP/1.0', 'Connection: x , keep-alive\r\n', true],
    ['HTTP/1.0', 'Connection: keep-alive, close\r\n', false],
    ['HTTP/1.0', 'Keep-Alive: timeout=5\r\n', false],
  ] as const
  for (const [version, lines, keepAlive] of cases)
    test(`${version} ${lines.trim().replace('\r\n', ', ')} ${keepAlive ? 'keeps' : 'ends'} the connection`, () => {
      equal(accepted(`GET / ${version}\r\nHost: a\r\n${lines}\r\n`).keepAlive, keepAlive)
    })
})

describe('what a gateway looks at', () => {
  const joined = [
    ['Accept', 'accept'],
    ['Expect', 'expect'],
    ['X-Forwarded-For', 'xForwardedFor'],
    ['CDN-Loop', 'cdnLoop'],
    ['Via', 'via'],
  ] as const
  for (const [name, member] of joined)
    test(`joins the lines of ${name}`, () => {
      const head = accepted(
        `GET / HTTP/1.1\r\nHost: a\r\n${name}: 1\r\nX: 2\r\n${name.toLowerCase()}: 3\r\n\r\n`,
      )
      equal(head[member], '1, 3')
    })

  test('is null where it did not come, whatever else did', () => {
    const names = { ...Object.fromEntries(joined), Upgrade: 'upgrade', tracestate: 'tracestate' }
    const members = Object.values(names) as (typeof joined)[number][1][]
    for (const [name, member] of [['X', ''], ['Connection', 'connection'], ...Object.entries(names)]) {
      const head = accepted(`GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n${name}: 1\r\n\r\n`)
      for (const other of members) equal(head[other], other === member ? '1' : null, `${name}: ${other}`)
      equal(head.traceparent, null)
    }
  })

  test('includes an upgrade that Connection announces', () => {
    const head = accepted(
      'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\r\n',
    )
    equal(head.upgrade, 'WebSocket')
  })

  const unasked = [
    ['no Connection announces', 'HTTP/1.1', ''],
    ['Connection does not name', 'HTTP/1.1', 'Connection: keep-alive\r\n'],
    ['HTTP/1.0 does not know', 'HTTP/1.0', 'Connection: Upgrade\r\n'],
  ] as const
  for (const [reason, version, lines] of unasked)
    test(`leaves out an upgrade that ${reason}`, () => {
      equal(accepted(`GET / ${version}\r\nHost: a\r\nUpgrade: websocket\r\n${lines}\r\n`).upgrade, null)
    })
})

describe('parseRequestHead', () => {
  test('reads the second of two requests in one buffer', () => {
    const first = `GET /1 HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(900)}\r\n\r\n`
    const bytes = latin1(`${first}GET /2 HTTP/1.1\r\nHost: b\r\nX: y\r\n\r\nrest`)
    const head = parseRequestHead(bytes, first.length, endOfHead(bytes, first.length), limits)
    ok(typeof head !== 'string')
    const { method, target, host, fields } = head
    deepEqual([method, target, host, fields], ['GET', '/2', 'b', ['Host', 'b', 'X', 'y']])
  })

  test('takes a target up to its limit', () => {
    accepted(`GET /${'a'.repeat(99)} HTTP/1.1\r\nHost: a\r\n\r\n`)
    equal(parse(`GET /${'a'.repeat(100)} HTTP/1.1\r\nHost: a\r\n\r\n`), 'uri_too_long')
  })

  test('takes a head up to its limit', () => {
    const around = 'GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n'.length
    accepted(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(1000 - around)}\r\n\r\n`)
    equal(
      parse(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(1001 - around)}\r\n\r\n`),
      'http_headers_exceed_limit',
    )
  })

  test('takes field lines up to their limit', () => {
    const lines = (count: number) => `GET / HTTP/1.1\r\nHost: a\r\n${'A:\r\n'.repeat(count - 1)}\r\n`
    accepted(lines(100))
    equal(parse(lines(101)), 'http_headers_exceed_limit')
  })

  test('gives what crosses exactly as it was sent', () => {
    fc.assert(
      fc.property(validRequest(), ({ method, target, lines }) => {
        const head = accepted(`${method} ${target} HTTP/1.1\r\n${hostAmong(lines)}\r\n`)
        equal(head.method, method)
        equal(head.target, target)
        equal(crossingLines(head), lines.join(''))
      }),
    )
  })

  test('never throws, whatever comes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
      fc.tuple(validRequest(), fc.nat({ max: 200 }), fc.integer({ min: 0, max: 255 })).map(mutated),
    )
    fc.assert(
      fc.property(bytes, bytes => {
        const end = endOfHead(bytes, 0)
        if (end === -1)
          return void (overLimit(bytes, 0, limits) ?? startsBadly(bytes, 0) ?? mayContinue(bytes, 0))
        const head = parseRequestHead(bytes, 0, end, limits)
        ok(typeof head !== 'string' || faults.includes(head))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a head that is still growing', () => {
  test('is waited for at every length that a good one has', () => {
    fc.assert(
      fc.property(validRequest(), ({ method, target, lines }) => {
        const bytes = latin1(`${method} ${target} HTTP/1.1\r\n${hostAmong(lines)}\r\n`)
        for (let length = 0; length < bytes.length; length++) {
          const part = bytes.subarray(0, length)
          equal(overLimit(part, 0, limits) ?? startsBadly(part, 0), null)
          equal(mayContinue(part, 0), true)
        }
      }),
    )
  })

  test('is over the limit of the target once its first line has no end within that of the section', () => {
    equal(overLimit(latin1(`GET /${'a'.repeat(limits.headerSection - 5)}`), 0, limits), null)
    equal(overLimit(latin1(`GET /${'a'.repeat(limits.headerSection - 4)}`), 0, limits), 'uri_too_long')
  })

  test('is waited for with the longest method and target', () => {
    const line = `${'M'.repeat(64)} /${'a'.repeat(99)} HTTP/1.1\r`
    equal(overLimit(latin1(line), 0, limits), null)
    accepted(`${line}\nHost: a\r\n\r\n`)
  })

  test('is over the limit of the section behind its first line', () => {
    equal(overLimit(latin1(`GET / HTTP/1.1\r\nX: ${'x'.repeat(900)}`), 0, limits), null)
    equal(
      overLimit(latin1(`GET / HTTP/1.1\r\nX: ${'x'.repeat(1000)}`), 0, limits),
      'http_headers_exceed_limit',
    )
  })

  test('is measured from where it starts', () => {
    equal(overLimit(latin1(`${'x'.repeat(900)}GET / HTTP/1.1\r\nX: `), 900, limits), null)
  })

  test('is refused as soon as its first line cannot be accepted', () => {
    equal(startsBadly(latin1('GET / HTTP/2.0\r\nHo'), 0), 'http_version_not_supported')
    equal(startsBadly(latin1('hello\r\n'), 0), 'bad_request')
    equal(startsBadly(latin1('xxGET / HTTP/1.1\r\nHo'), 2), null)
  })
})

const faults: readonly HeadFault[] = [
  'bad_request',
  'uri_too_long',
  'http_headers_exceed_limit',
  'http_version_not_supported',
  'not_implemented',
  'host_invalid',
]

function parse(text: string, most = limits): RequestHead | HeadFault {
  const bytes = latin1(text)
  return parseRequestHead(bytes, 0, endOfHead(bytes, 0), most)
}

function accepted(text: string): RequestHead {
  const head = parse(text)
  ok(typeof head !== 'string', `refused as ${head}`)
  return head
}

interface ValidRequest {
  readonly method: string
  readonly target: string
  readonly lines: readonly string[]
}

function validRequest(): fc.Arbitrary<ValidRequest> {
  const value = fc.stringMatching(/^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/)
  const name = fc.stringMatching(/^X-[!#$%&'*+.^`|~0-9A-Za-z]{1,10}$/)
  const line = fc.tuple(name, value).map(([name, value]) => `${name}: ${value}\r\n`)
  return fc.record({
    method: fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/).filter(method => method !== 'CONNECT'),
    target: fc.stringMatching(/^\/[!"$-~\x80-\xff]{0,99}$/),
    lines: fc.array(line, { maxLength: 8 }),
  })
}

/** Puts a Host field into the middle. */
function hostAmong(lines: readonly string[]): string {
  return lines.toSpliced(lines.length >> 1, 0, 'Host: a.example\r\n').join('')
}

function mutated([{ method, target, lines }, place, byte]: readonly [ValidRequest, number, number]): Buffer {
  const bytes = latin1(`${method} ${target} HTTP/1.1\r\n${hostAmong(lines)}\r\n`)
  bytes[place % bytes.length] = byte
  return bytes
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
