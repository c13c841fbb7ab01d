// A client of node:http2 (nghttp2) on a session, over a pair of streams: what both mean by the same bytes.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Peer, type Request } from '../help/http2.ts'

/** The socket of a client whose other end is a session. */
class Line extends Duplex {
  readonly peer: Peer
  #isFlushing = false

  constructor(peer: Peer) {
    super()
    this.peer = peer
    peer.outputReady = () => this.#flush()
    this.#flush()
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    for (let state = this.peer.send(bytes); state !== 'done'; state = this.peer.session.readOn(0))
      this.#take()
    done()
  }

  override _read(): void {}

  #flush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(() => {
      this.#isFlushing = false
      this.#take()
    })
  }

  #take(): void {
    for (let bytes = this.peer.session.takeOutput(); bytes !== null; bytes = this.peer.session.takeOutput())
      this.push(Buffer.from(bytes))
  }
}

function open(
  t: TestContext,
  serve: (request: Request, peer: Peer) => void,
): { client: ClientHttp2Session; peer: Peer } {
  const peer = new Peer()
  peer.limits.headerSection = 131_072
  peer.limits.headers = 1_000
  peer.onBegin = request => serve(request, peer)
  const client = connect('http://shop.example', { createConnection: () => new Line(peer) })
  t.after(() => client.destroy())
  return { client, peer }
}

interface Response {
  readonly head: Record<string, unknown>
  readonly body: Buffer
}

async function responseOf(stream: ClientHttp2Stream): Promise<Response> {
  const [[head], body] = await Promise.all([once(stream, 'response'), buffer(stream)])
  return { head: head as Record<string, unknown>, body }
}

/** Responds with the fields and the body of the request. */
function echo({ stream, head }: Request, peer: Peer): void {
  let lines = ''
  for (let i = 0; i < head.fields.length; i += 2) lines += `X-${head.fields[i]}: ${head.fields[i + 1]}\r\n`
  peer.body = (_, bytes) => {
    if (!peer.session.write(stream, bytes)) peer.session.pauseBody(stream)
  }
  peer.drained = () => peer.session.readBody(stream)
  peer.bodyEnd = (_, trailers) => peer.session.end(stream, trailers)
  peer.session.respond(stream, 200, lines, stream.isRequestWhole)
  peer.session.readBody(stream)
}

const value = fc
  .array(fc.oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })), {
    minLength: 1,
    maxLength: 200,
  })
  .map(bytes => Buffer.from(bytes).toString('latin1'))

test('any fields come and go as they are, with Huffman code and the tables of the other', async t => {
  const { client } = open(t, echo)
  const names = fc.constantFrom('a', 'b', 'accept', 'x-long-name', 'referer', 'content-type')
  await fc.assert(
    fc.asyncProperty(fc.dictionary(names, value, { maxKeys: 6 }), async fields => {
      const { head } = await responseOf(client.request(fields))
      for (const [name, value] of Object.entries(fields)) assert.equal(head[`x-${name}`], value)
      assert.equal(head['x-host'], 'shop.example:80')
    }),
    { numRuns: 100 },
  )
})

test('bodies of any length come back, whatever the windows are', async t => {
  const { client, peer } = open(t, echo)
  await once(client, 'remoteSettings')
  for (const length of [0, 1, 16_384, 65_535, 65_536, 1_000_000]) {
    const body = Buffer.alloc(length, 'abcdefghij')
    const stream = client.request({ ':method': 'POST' }, { endStream: false })
    stream.end(body)
    const response = await responseOf(stream)
    assert.ok(response.body.equals(body), `${length} bytes`)
  }
  assert.equal(peer.fault, null)
  assert.equal(peer.session.streamCount, 0)
})

test('a hundred streams at a time, of which each has its own body', async t => {
  const { client, peer } = open(t, ({ stream, head }, peer) => {
    peer.session.respond(stream, 200, '', false)
    peer.session.write(stream, Buffer.alloc(20_000, head.target))
    peer.session.end(stream, null)
  })
  await once(client, 'remoteSettings')
  const paths = Array.from({ length: 100 }, (_, i) => `/${i}/`)
  const responses = await Promise.all(paths.map(path => responseOf(client.request({ ':path': path }))))
  for (const [i, { body }] of responses.entries()) assert.ok(body.equals(Buffer.alloc(20_000, paths[i]!)))
  assert.equal(peer.fault, null)
})

test('trailers and interim responses reach the client, and trailers come from it', async t => {
  let taken: readonly string[] | null = null
  const { client } = open(t, ({ stream }, peer) => {
    peer.session.interim(stream, 103, 'link: </a>\r\n')
    peer.bodyEnd = (_, trailers) => {
      taken = trailers
      peer.session.respond(stream, 200, '', false)
      peer.session.write(stream, Buffer.from('hello'))
      peer.session.end(stream, ['grpc-status', '0'])
    }
    peer.session.readBody(stream)
  })
  const stream = client.request({ ':method': 'POST' }, { endStream: false, waitForTrailers: true } as object)
  const interim = once(stream, 'headers')
  const trailers = once(stream, 'trailers')
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }))
  stream.end('abc')
  const { body } = await responseOf(stream)
  assert.equal(body.toString(), 'hello')
  assert.equal((await interim)[0][':status'], 103)
  assert.equal((await trailers)[0]['grpc-status'], '0')
  assert.deepEqual(taken, ['x-sum', '1'])
})

test('a client that has no table, and tiny windows, is served', async t => {
  const peer = new Peer()
  peer.onBegin = request => echo(request, peer)
  const settings = { headerTableSize: 0, initialWindowSize: 10, maxFrameSize: 16_384 }
  const client = connect('http://shop.example', { createConnection: () => new Line(peer), settings })
  t.after(() => client.destroy())
  const stream = client.request({ ':method': 'POST', a: 'b' }, { endStream: false })
  stream.end('x'.repeat(300))
  const { head, body } = await responseOf(stream)
  assert.equal(head['x-a'], 'b')
  assert.equal(body.length, 300)
  assert.equal(peer.fault, null)
})

test('a reset of either side is seen by the other', async t => {
  const waiting = Promise.withResolvers<void>()
  const { client, peer } = open(t, ({ stream, head }, peer) => {
    if (head.target === '/wait') waiting.resolve()
    if (head.target === '/reset') peer.session.reset(stream, constants.NGHTTP2_REFUSED_STREAM)
  })
  const reset = client.request({ ':path': '/reset' })
  const [error] = await once(reset, 'error')
  assert.match(String(error), /REFUSED_STREAM/)
  const cancelled = client.request({ ':path': '/wait' })
  await waiting.promise
  cancelled.on('error', () => {})
  const closed = once(cancelled, 'close')
  cancelled.close(constants.NGHTTP2_CANCEL)
  await closed
  const pinged = Promise.withResolvers<void>()
  client.ping(() => pinged.resolve())
  await pinged.promise
  assert.equal(peer.session.streamCount, 0)
})

test('a shutdown reaches the client, and what is open is served', async t => {
  const begun = Promise.withResolvers<void>()
  const { client, peer } = open(t, () => begun.resolve())
  const stream = client.request()
  await begun.promise
  const goneAway = once(client, 'goaway')
  peer.session.shutdown(0)
  peer.session.respond(peer.requests[0]!.stream, 200, '', true)
  const { head } = await responseOf(stream)
  assert.equal(head[':status'], 200)
  assert.equal((await goneAway)[0], constants.NGHTTP2_NO_ERROR)
})
