// What this parser accepts, node's strict one must accept too, and read the same: method, target, field lines and body. Stricter is fine.
import { deepEqual, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, METHODS, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { endOfHead } from '../../src/http1/fields/field-lines.ts'
import { hostName } from '../../src/http1/fields/host.ts'
import { parseRequestHead, requestBody } from '../../src/http1/heads/request-head.ts'

/** A request as a parser understood it; its body is null when it did not end. */
interface Understood {
  readonly method: string
  readonly target: string
  readonly minor: number
  readonly fields: readonly string[]
  body: string | null
}

const limits = { url: 4096, headerSection: 8192, headers: 256 }

test('accepts no request that node refuses or reads in another way', async t => {
  const node = await nodeParser(t)
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(nearlyValid(), async bytes => {
      const ours = read(bytes)
      if (ours.length === 0) return
      accepted += ours.length
      deepEqual((await node(bytes)).slice(0, ours.length), ours)
    }),
    { numRuns: 300 },
  )
  ok(accepted > 50, `only ${accepted} requests were compared`)
})

/** Reads requests one behind the other, as a connection does, up to the first that is refused, incomplete or the last. */
function read(bytes: Buffer): Understood[] {
  const requests: Understood[] = []
  let at = 0
  for (let end = endOfHead(bytes, at); end !== -1; end = endOfHead(bytes, at)) {
    const head = parseRequestHead(bytes, at, end, limits)
    if (typeof head === 'string') break
    const { method, target, minor, fields } = head
    // Extension methods, raw bytes beyond ASCII and HTTP/1.0 without a usable Host are more than node takes; they are no ambiguity.
    if (!METHODS.includes(method) || /[\x80-\xff]/.test(target) || hostName(head.host ?? 'none') === null)
      break
    const reader = requestBody(head)
    let body = ''
    for (at = end; at < bytes.length && !reader.done && !reader.faulty; ) {
      at = reader.next(bytes, at)
      body += bytes.toString('latin1', reader.from, reader.to)
    }
    if (reader.faulty) break
    requests.push({ method, target, minor, fields, body: reader.done ? body : null })
    if (!reader.done || !head.keepAlive) break
  }
  return requests
}

/** Starts a server of node's and gives a function that tells how it reads some bytes. */
async function nodeParser(t: TestContext): Promise<(bytes: Buffer) => Promise<Understood[]>> {
  let requests: Understood[] = []
  const server = createServer({ insecureHTTPParser: false }, (request, response) => {
    const understood = describeRequest(request)
    requests.push(understood)
    collect(request, understood, () => response.end())
  })
  listenQuietly(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return async bytes => {
    requests = []
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {}).resume()
    socket.end(bytes)
    await once(socket, 'close')
    return requests
  }
}

function listenQuietly(server: Server): void {
  // A client that ends its half has still to be answered for what it sent.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('checkContinue', (request, response) => server.emit('request', request, response))
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', (_, socket) => socket.destroy())
}

function describeRequest(request: IncomingMessage): Understood {
  const target = request.url!.replace(/^https?:\/\/[^/?]+(?=(\/?))/i, (_, slash) =>
    slash === '/' ? '' : '/',
  )
  return {
    method: request.method!,
    target,
    minor: request.httpVersionMinor,
    fields: request.rawHeaders,
    body: null,
  }
}

function collect(request: IncomingMessage, understood: Understood, done: () => void): void {
  let body = ''
  request.setEncoding('latin1')
  request.on('data', (text: string) => (body += text))
  request.on('error', () => {})
  request.on('end', () => {
    understood.body = body
    done()
  })
}

/** Makes requests that are valid but for a few places, several on a connection. */
function nearlyValid(): fc.Arbitrary<Buffer> {
  const requests = fc.array(request(), { minLength: 1, maxLength: 3 }).map(texts => texts.join(''))
  return fc.tuple(requests, fc.array(mutation(), { maxLength: 2 })).map(([text, mutations]) => {
    const mutated = mutations.reduce((text, mutate) => mutate(text), text)
    return Buffer.from(mutated, 'latin1')
  })
}

function request(): fc.Arbitrary<string> {
  return fc
    .record({
      method: mostly(['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE'], ['get', 'G@T', '', 'GET ', 'FOO']),
      target: mostly(
        ['/', '/a?b=c', '/%41/../b', '//a', '/a|b"c\\', '/?', 'http://a.example/x?y', 'HTTP://A.example?z'],
        [
          '*',
          '/a#b',
          '/\xfc',
          'http://b.example/',
          'http://u@a.example/',
          'a',
          '?a',
          '/a b',
          '',
          'a.example:80',
        ],
      ),
      version: mostly(['HTTP/1.1', 'HTTP/1.0'], ['HTTP/2.0', 'http/1.1', 'HTTP/01.1', '']),
      host: mostly(
        ['Host: a.example\r\n', 'hOST:A.Example\r\n'],
        ['', 'Host:\r\n', 'Host: a\r\nHost: a\r\n'],
      ),
      fields: fc.array(mostly(harmless, hostile), { maxLength: 4 }),
      framed: mostly(wellFramed, badlyFramed),
    })
    .map(({ method, target, version, host, fields, framed }) => {
      const [framing, body] = framed
      return `${method} ${target} ${version}\r\n${host}${fields.join('')}${framing}\r\n${body}`
    })
}

const harmless = [
  'Accept: */*\r\n',
  'X-Empty:\r\n',
  'X-Spaces: \t a b \t \r\n',
  'X-Latin: \xe4\xff\x80\r\n',
  'Connection: keep-alive\r\n',
  'Connection: x-empty, close\r\n',
  'content_length: 7\r\n',
  "!#$%&'*+-.^_`|~: odd\r\n",
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\n',
]

const hostile = [
  ' folded: x\r\n',
  'X-Fold: a\r\n b\r\n',
  'X-Space : a\r\n',
  'X-Nul: \0\r\n',
  'X-Del: \x7f\r\n',
  'X-Bare: a\nTransfer-Encoding: chunked\r\n',
  'X-Bare: a\rTransfer-Encoding: chunked\r\n',
  ': nameless\r\n',
  'colonless\r\n',
  'X-\xe4: a\r\n',
  'Connection: close\r\n',
]

const wellFramed = [
  ['', ''],
  ['Content-Length: 0\r\n', ''],
  ['Content-Length: 5\r\n', 'hello'],
  ['content-length:\t0005\t\r\n', 'hello'],
  ['Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
  ['transfer-encoding: CHUNKED\r\n', '00A\r\nhellohello\r\n1\r\n!\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '0\r\nX-Trailer: a\r\n\r\n'],
] as const

const badlyFramed = [
  ['Content-Length: +5\r\n', 'hello'],
  ['Content-Length: 5, 5\r\n', 'hello'],
  ['Content-Length: 5\r\nContent-Length: 5\r\n', 'hello'],
  ['Content-Length: 18446744073709551621\r\n', 'hello'],
  ['Content-Length: 0x5\r\n', 'hello'],
  ['Content-Length:\r\n', ''],
  ['Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
  ['Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
  ['Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'],
  ['Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'],
  ['Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n'],
  ['Transfer-Encoding : chunked\r\n', '0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '5 \r\nhello\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '5\nhello\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '5\r\nhello!\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '5\r\nhello0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '-5\r\nhello\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '0\r\nContent-Length: 5\r\n\r\nhello'],
  ['Transfer-Encoding: chunked\r\n', '0\r\nX : a\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\n', '0\r\n\nGET / HTTP/1.1\r\n\r\n'],
] as const

function mostly<Good, Bad>(good: readonly Good[], bad: readonly Bad[]): fc.Arbitrary<Good | Bad> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom<(Good | Bad)[]>(...good) },
    { weight: 1, arbitrary: fc.constantFrom<(Good | Bad)[]>(...bad) },
  )
}

/** Inserts, deletes or replaces a byte or two; no tab, which node refuses behind a coding though it is white space there. */
function mutation(): fc.Arbitrary<(text: string) => string> {
  const bytes = [...'\r\n\0 ,:05x+-_#"=a\x0b\x0c\x7f\x80\x85\xa0\xff']
  return fc
    .record({
      place: fc.nat({ max: 999 }),
      removed: fc.constantFrom(0, 0, 1, 2),
      added: fc.constantFrom('', '\r\n', ...bytes),
    })
    .map(({ place, removed, added }) => text => {
      const at = Math.floor((place * text.length) / 1000)
      return text.slice(0, at) + added + text.slice(at + removed)
    })
}
