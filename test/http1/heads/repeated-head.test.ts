import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { crossingLines } from '../../../src/http1/fields/fields.ts'
import { RepeatedHead } from '../../../src/http1/heads/repeated-head.ts'
import { type HeadLimits, parseRequestHead, type RequestHead } from '../../../src/http1/heads/request-head.ts'
import type { HeadFault } from '../../../src/http1/heads/request-line.ts'

const limits = { url: 100, headerSection: 1000, headers: 20 }

describe('heads that a client repeats', () => {
  test('share their lines from the third on', () => {
    const parser = new RepeatedHead()
    const heads = ['/a', '/b', '/c', '/d'].map(path => parse(parser, get(path)))
    deepEqual(
      heads.map(({ target }) => target),
      ['/a', '/b', '/c', '/d'],
    )
    notEqual(heads[0]!.fields, heads[1]!.fields)
    equal(heads[2]!.fields, heads[1]!.fields)
    equal(heads[3]!.fields, heads[1]!.fields)
  })

  test('are not read at all if all their bytes come again', () => {
    const parser = new RepeatedHead()
    const heads = ['/a', '/b', '/c'].map(path => parse(parser, get(path)))
    const bytes = Buffer.from(`\r\n${get('/c')}GET`, 'latin1')
    equal(heads[2]!.isRepeated, false)
    equal(parser.repeated(bytes, 2, limits), heads[2])
    equal(heads[2]!.isRepeated, true)
    equal(parser.size, get('/c').length)
    equal(parser.repeated(bytes.subarray(0, 2 + parser.size), 2, limits), heads[2])
    equal(parser.repeated(bytes, 2, { ...limits }), null)
    equal(parser.repeated(bytes.subarray(0, parser.size + 1), 2, limits), null)
    equal(parser.repeated(Buffer.from(get('/b'), 'latin1'), 0, limits), null)
  })

  test('may differ in the length of their body', () => {
    const parser = new RepeatedHead()
    const lengths = ['7', '7', '7', '8', '12', '12', '12345', '19', '007']
    const heads = lengths.map(length => parse(parser, post(length)))
    deepEqual(
      heads.map(({ contentLength }) => contentLength),
      lengths.map(Number),
    )
    deepEqual(
      heads.map(({ fields }) => fields[5]),
      lengths,
    )
    equal(heads[2]!.fields, heads[1]!.fields)
    for (const { ids } of heads.slice(2)) equal(ids, heads[1]!.ids)
  })

  test('share their lines whatever stands before their length, and wherever they lie', () => {
    for (const blank of ['', ' ', '\t', ' \t'])
      for (const before of ['', 'x'.repeat(5000)]) {
        const parser = new RepeatedHead()
        const text = post('7').replace(': 7', `:${blank}7`)
        const heads = [1, 2, 3].map(() => parser.parse(...whole(text, before)) as RequestHead)
        equal(heads[2]!.fields, heads[1]!.fields)
        equal(heads[2]!.contentLength, 7)
      }
  })

  test('are not taken for good in a version that does not allow their lines', () => {
    const parser = new RepeatedHead()
    const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    for (let i = 0; i < 3; i++) equal(parse(parser, chunked).chunked, true)
    const [bytes, start, end] = whole(chunked.replace('1.1', '1.0'))
    equal(parser.parse(bytes, start, end, limits), 'bad_request')
    equal(parser.repeated(bytes, start, limits), null)
  })

  test('are read anew where another line differs, before the length or behind it', () => {
    for (const [x, y] of [
      ['3', '2'],
      ['1', '3'],
      ['1', '23'],
    ] as const) {
      const parser = new RepeatedHead()
      for (let i = 0; i < 3; i++) parse(parser, post('7'))
      const { fields } = parse(parser, post('7').replace('X: 1', `X: ${x}`).replace('Y: 2', `Y: ${y}`))
      deepEqual(fields, ['Host', 'a', 'X', x, 'Content-Length', '7', 'Y', y])
    }
  })

  test('are read anew where they are shorter than the lines before', () => {
    const parser = new RepeatedHead()
    for (let i = 0; i < 3; i++) parse(parser, post('7'))
    deepEqual(parse(parser, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').fields, ['Host', 'a'])
  })

  test('are kept up to 4 KiB', () => {
    const wide = { ...limits, url: 5000, headerSection: 5000 }
    for (const [size, isKept] of [
      [4096, true],
      [4097, false],
    ] as const) {
      const filler = 'a'.repeat(size - get('/').length)
      for (const large of [get(`/${filler}`), get('/').replace('X: ', `X: ${filler}`)])
        for (const before of [get('/'), large]) {
          const parser = new RepeatedHead()
          for (const text of [before, before, large]) parser.parse(Buffer.from(text), 0, text.length, wide)
          equal(parser.repeated(Buffer.from(large), 0, wide) !== null, isKept)
          const isFirstKept = isKept === (before === large)
          equal(parser.repeated(Buffer.from(before + large), 0, wide) !== null, isFirstKept)
        }
    }
  })

  test('are upgraded each time', () => {
    const parser = new RepeatedHead()
    const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'
    for (let i = 0; i < 3; i++) equal(parse(parser, upgrade).upgrade, 'websocket')
  })

  test('are refused for what their request lines say', () => {
    equal(afterGets(`GET http://b.example/ HTTP/1.1\r\n${lines}`), 'bad_request')
    equal(afterGets(get(`/${'a'.repeat(100)}`)), 'uri_too_long')
    equal(afterGets(`GET / HTTP/3.0\r\n${lines}`), 'http_version_not_supported')
  })

  test('are held to limits that have changed since', () => {
    equal(afterGets(get('/'), { ...limits, headers: 1 }), 'http_headers_exceed_limit')
    equal(afterGets(get('/'), { ...limits, headerSection: 20 }), 'http_headers_exceed_limit')
    equal(afterGets(get('/'), { ...limits, url: 0 }), 'uri_too_long')
  })

  test('are forgotten when others come, and looked for again', () => {
    const parser = new RepeatedHead()
    for (const path of ['/', '/', '/']) parse(parser, get(path))
    for (let i = 0; i < 7; i++) parse(parser, other(i))
    const [first, second] = [parse(parser, get('/')), parse(parser, get('/'))]
    equal(first.fields, second.fields)
    for (let i = 0; i < 7; i++) parse(parser, other(i))
    const [third, fourth] = [parse(parser, get('/')), parse(parser, get('/'))]
    equal(third.fields, fourth.fields)
  })

  test('are not looked for any more on a connection where they never come', () => {
    const parser = new RepeatedHead()
    for (let i = 0; i < 9; i++) parse(parser, other(i))
    const [first, second] = [parse(parser, get('/')), parse(parser, get('/'))]
    notEqual(first.fields, second.fields)
  })

  test('are still looked for after eight others', () => {
    const parser = new RepeatedHead()
    for (let i = 0; i < 8; i++) parse(parser, other(i))
    const [first, second] = [parse(parser, get('/')), parse(parser, get('/'))]
    equal(first.fields, second.fields)
  })

  test('are read as those that come once', () => {
    fc.assert(
      fc.property(anyHeads, heads => {
        const parser = new RepeatedHead()
        for (const text of heads) {
          const [bytes, start, end] = whole(text, '\r\n')
          const same = parser.repeated(bytes, start, limits)
          if (same !== null) equal(parser.size, end - start)
          const again = same ?? parser.parse(bytes, start, end, limits)
          const once = parseRequestHead(bytes, start, end, limits)
          deepEqual(again, once, JSON.stringify(heads))
          if (typeof once !== 'string') equal((again as RequestHead).crossing(), crossingLines(once))
        }
      }),
      { numRuns: 3000 },
    )
  })
})

const lines = 'Host: a\r\nX: 1\r\n\r\n'
const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${lines}`
const other = (i: number): string => `GET / HTTP/1.1\r\nHost: a\r\nX: other ${i}\r\n\r\n`
const post = (length: string): string =>
  `POST / HTTP/1.1\r\nHost: a\r\nX: 1\r\nContent-Length: ${length}\r\nY: 2\r\n\r\n`

/** Few of each, so that heads come again, with what their lines could be taken for. */
const line = fc.constantFrom(
  'GET / HTTP/1.1',
  'POST /b?c HTTP/1.1',
  'GET / HTTP/1.0',
  'GET http://a/ HTTP/1.1',
  'GET http://b/ HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT a:1 HTTP/1.1',
  'GET / HTTP/2.0',
  `GET /${'x'.repeat(120)} HTTP/1.1`,
  'GET /\r\nA: b HTTP/1.1',
  'GET / HTTP/1.1\r\nX: 1',
)
const fields = fc.constantFrom(
  'Host: a\r\n',
  'host: A\r\n',
  'Host: a\r\nX: 1\r\n',
  'X: 1\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 5 \r\n',
  'content-length:12\r\n',
  'Content-Length: 0012\r\n',
  'Content-Length: 99999999999999999\r\n',
  'Content-Length:\r\n',
  'X-Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Connection: X\r\n',
  'Connection: upgrade\r\nUpgrade: websocket\r\n',
  'Upgrade: websocket\r\n',
  'Expect: 100-continue\r\nAccept: a\r\nAccept: b\r\n',
  'X-Forwarded-For: 1.2.3.4\r\nVia: 1.1 p\r\nCDN-Loop: p\r\n',
  'traceparent: 00-a-b-00\r\ntracestate: a=b\r\n',
  'A : b\r\n',
  ' folded: yes\r\n',
  'X: \u00e9 \r\n',
  `X: ${'y'.repeat(800)}\r\n`,
  'B: 1\r\n'.repeat(19),
)
/** Heads with one list of fields, but for those of which a field was added or changed. */
const anyHeads = fc
  .tuple(
    fc.array(fields, { maxLength: 4 }).map(list => ['Host: A\r\n', ...list].join('')),
    fc.array(fc.tuple(line, fc.option(fields), fc.integer({ min: 0, max: 4 }), fc.string({ maxLength: 2 })), {
      minLength: 3,
      maxLength: 8,
    }),
  )
  .map(([shared, heads]) =>
    heads.map(([line, more, way, letters]) => `${line}\r\n${varied(shared, more ?? '', way, letters)}\r\n`),
  )

function varied(shared: string, more: string, way: number, letters: string): string {
  if (way === 0) return shared + more
  if (way === 1) return shared.replace(/(?<=Length:\s*)\d+/i, `${letters.charCodeAt(0) || ''}`)
  if (way === 2) return shared.replace(/\w(?=\r\n)/, letters)
  return way === 3 ? shared.replace(/\w(?=\s*$)/, letters) : shared
}

/** Returns a head between other bytes, as it may lie in what was read. */
function whole(text: string, before = ''): [Buffer, number, number, HeadLimits] {
  const bytes = Buffer.from(`${before}${text}body`, 'latin1')
  return [bytes, before.length, before.length + text.length, limits]
}

function afterGets(text: string, changed = limits): RequestHead | HeadFault {
  const parser = new RepeatedHead()
  for (const path of ['/', '/', '/']) parse(parser, get(path))
  const [bytes, start, end] = whole(text)
  return parser.parse(bytes, start, end, changed)
}

function parse(parser: RepeatedHead, text: string): RequestHead {
  const head: RequestHead | HeadFault = parser.parse(...whole(text))
  if (typeof head === 'string') throw new Error(head)
  return head
}
