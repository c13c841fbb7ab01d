// Responses compressed on their way: whole, prompt, honest about what was cut, and only where nobody minds.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { CompressionConfig } from '../../../src/config/model/compression-config.ts'
import { codings } from '../../../src/edge/encoding/encoders.ts'
import { Decoding, decoded, everyCoding, usualCompression } from '../../help/codings.ts'
import { type Edge, type EdgeSettings, startEdge } from '../../help/edge.ts'
import { ask, connectHttp2, open, responseTo } from '../../help/http2-client.ts'
import { ok, type Origin, type Respond, startOrigin, startResponder } from '../../help/origin.ts'
import { chunks, type Message, request, type Wire } from '../../help/raw.ts'
import { thorough } from '../../help/thorough.ts'
import { until } from '../../help/until.ts'

const page = Array.from({ length: 300 }, (_, i) => `<li>item ${(i * 7919) % 1000} of the list</li>\n`).join(
  '',
)
const large = page.repeat(40)
const html = 'Content-Type: text/html; charset=utf-8'
const chunked = 'Transfer-Encoding: chunked'
const accepts = (coding: string) => `Accept-Encoding: ${coding}`

async function start(
  t: TestContext,
  respond: Respond | string,
  compression: Partial<CompressionConfig> = {},
  settings: EdgeSettings = {},
): Promise<Edge> {
  const origin = await startResponder(t, respond)
  return startBefore(t, origin, compression, settings)
}

function startBefore(
  t: TestContext,
  origin: Origin,
  compression: Partial<CompressionConfig> = {},
  settings: EdgeSettings = {},
): Promise<Edge> {
  const route = { ...settings.route, compression: { ...usualCompression, ...compression } }
  return startEdge(t, [origin.url], { h2c: true, ...settings, route })
}

function textOf(message: Message): string {
  return decoded(message.field('content-encoding'), message.body).toString('latin1')
}

/** Decodes the chunks of a body as they come, until its connection ends. */
function decodeFrom(wire: Wire, coding: (typeof everyCoding)[number]): Decoding {
  const decoding = new Decoding(coding)
  const pump = async () => {
    for (;;) {
      decoding.push(await wire.bytes(Number.parseInt(await wire.until('\r\n'), 16)))
      await wire.until('\r\n')
    }
  }
  pump().catch(() => {})
  return decoding
}

const isIdle = ({ metrics }: Edge) => metrics.compression.memory.value === 0

test('a response is compressed in each encoding, however its length is told, over both versions; the log and the metrics say so', async t => {
  const edge = await start(t, async ({ target }, wire) => {
    const body = target.startsWith('/large') ? large : page
    if (target.endsWith('length')) return ok(body, html)
    if (target.endsWith('chunked'))
      return `HTTP/1.1 200 OK\r\n${html}\r\n${chunked}\r\n\r\n${chunks(body)}0\r\n\r\n`
    await wire.send(`HTTP/1.1 200 OK\r\n${html}\r\n\r\n${body}`)
    wire.finish()
    return undefined
  })
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  for (const coding of everyCoding)
    for (const [target, body] of [
      ['/length', page],
      ['/large-length', large],
      ['/large-chunked', large],
      ['/close', page],
    ] as const) {
      const got = await edge.ask(request(`GET ${target}`, accepts(coding)))
      assert.equal(got.field('content-encoding'), coding, target)
      assert.equal(got.field('content-length'), null)
      assert.equal(got.field('transfer-encoding'), 'chunked')
      assert.equal(got.field('vary'), 'Accept-Encoding')
      assert.equal(textOf(got), body, `${coding} ${target}`)
      assert.ok(got.body.length < body.length / 3)
      await until(() => edge.accesses.length > 0)
      const line = edge.accesses.pop()!
      assert.deepEqual(line.compression, { encoding: coding, bytes: body.length })
      assert.equal(line.bytes_out, got.body.length)
      const over2 = await ask(session, { ':path': target, 'accept-encoding': coding })
      assert.equal(over2.headers['content-encoding'], coding)
      assert.equal(over2.headers['content-length'], undefined)
      assert.equal(decoded(coding, over2.body).toString('latin1'), body, `${coding} ${target} over HTTP/2`)
      await until(() => edge.accesses.length > 0)
      assert.equal(edge.accesses.pop()!.bytes_out, over2.body.length)
    }
  const { responses, bytesIn, bytesOut, skipped } = edge.metrics.compression
  assert.deepEqual([responses.zstd.value, responses.br.value, responses.gzip.value], [8, 8, 8])
  assert.equal(bytesIn.br.value, 4 * (page.length + large.length))
  assert.ok(bytesOut.br.value > 0 && bytesOut.br.value < bytesIn.br.value / 3)
  assert.equal(skipped.value, 0)
  await until(() => isIdle(edge))
})

test('what may not be changed, or gains nothing, passes as it is; what another client could get compressed varies', async t => {
  let respond = ''
  const edge = await start(t, () => respond, { types: ['text/*', 'application/*'] })
  const all = accepts('zstd, br, gzip')
  const vary = ['Accept-Encoding']
  const rows: [name: string, response: string, ask: string, vary: string[]][] = [
    ['no Accept-Encoding', ok(page, html), request('GET /'), vary],
    ['no coding of ours', ok(page, html), request('GET /', accepts('deflate')), vary],
    ['HTTP/1.0', ok(page, html), `GET / HTTP/1.0\r\nHost: site.test\r\n${all}\r\n\r\n`, vary],
    ['a client that forbids it', ok(page, html), request('GET /', all, 'Cache-Control: no-transform'), vary],
    ['an origin that forbids it', ok(page, html, 'Cache-Control: max-age=1, No-Transform'), '', []],
    ['a type that is not listed', ok(page, 'Content-Type: image/png'), '', []],
    ['no type', ok(page), '', []],
    ['two types', ok(page, html, 'Content-Type: text/plain'), '', []],
    ['an encoding', ok(page, html, 'Content-Encoding: deflate'), '', []],
    ['below the minimum', ok('x'.repeat(1023), html), '', []],
    [
      'a part',
      ok(page, html, `Content-Range: bytes 0-${page.length - 1}/99999`).replace('200 OK', '206 P'),
      '',
      [],
    ],
    ['a part by its fields', ok(page, html, 'Content-Range: bytes 0-1/2'), '', []],
    [
      'a reset of the form',
      'HTTP/1.1 205 Reset\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n',
      '',
      [],
    ],
    ['Content-MD5', ok(page, html, 'Content-MD5: x'), '', []],
    ['Digest', ok(page, html, 'Digest: sha-256=x'), '', []],
    ['Repr-Digest', ok(page, html, 'Repr-Digest: sha-256=:x:'), '', []],
    ['Content-Digest', ok(page, html, 'Content-Digest: sha-256=:x:'), '', []],
    ['a signature', ok(page, html, 'Signature: sig=:x:'), '', []],
    ['gRPC', ok(page, 'Content-Type: application/grpc'), '', []],
    ['an event stream that was not asked for', ok(page, 'Content-Type: text/event-stream'), '', []],
    [
      'a digest that is announced',
      `HTTP/1.1 200 OK\r\n${html}\r\nTrailer: X, Digest\r\n${chunked}\r\n\r\n${chunks(page)}0\r\nDigest: a\r\n\r\n`,
      '',
      [],
    ],
  ]
  for (const [name, response, asked, expected] of rows) {
    respond = response
    const got = await edge.ask(asked || request('GET /', all))
    assert.deepEqual(got.all('vary'), expected, name)
    assert.notEqual(got.field('content-encoding') ?? 'deflate', 'gzip')
    if (!name.includes('announced')) assert.equal(got.text, bodyOf(response), name)
  }
  respond = 'HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n\r\n'
  assert.deepEqual((await edge.ask(request('GET /', all))).all('vary'), [])
  assert.equal(edge.metrics.compression.responses.zstd.value, 0)
})

function bodyOf(response: string): string {
  return response.slice(response.indexOf('\r\n\r\n') + 4)
}

test('every field says what it must of a compressed body, to HEAD as to GET', async t => {
  const fields = [html, 'ETag: "a,b"', 'Accept-Ranges: bytes', 'Vary: Cookie', 'Last-Modified: x', 'X-A: 1']
  const edge = await start(t, ({ startLine }) =>
    startLine.startsWith('HEAD') ? ok(page, ...fields).slice(0, -page.length) : ok(page, ...fields),
  )
  const asked = accepts('br')
  const got = await edge.ask(request('GET /', asked))
  assert.deepEqual(got.all('etag'), ['W/"a,b"'])
  assert.deepEqual(got.all('accept-ranges'), [])
  assert.deepEqual(got.all('vary'), ['Cookie', 'Accept-Encoding'])
  assert.deepEqual(got.all('last-modified'), ['x'])
  const head = await edge.ask(request('HEAD /', asked))
  const stable = ({ lines }: Message) =>
    lines.filter(line => !/^(svc-ray|date|transfer-encoding):/i.test(line))
  assert.deepEqual(stable(head), stable(got))
  const plain = await edge.ask(request('HEAD /'))
  assert.equal(plain.field('content-length'), String(page.length))
  assert.equal(plain.field('etag'), '"a,b"')
  const client = await edge.connect()
  await client.send(request('HEAD /', asked) + request('GET /', asked))
  await client.response('HEAD')
  assert.equal(textOf(await client.response()), page)
})

test('validators stay weak, fields that origins name in Connection do no harm, and Vary is said once', async t => {
  let fields: string[] = []
  const edge = await start(t, () => ok(page, html, ...fields))
  const get = () => edge.ask(request('GET /', accepts('gzip')))
  fields = ['ETag: W/"a"', 'Vary: accept-encoding']
  const weak = await get()
  assert.deepEqual([weak.field('etag'), weak.all('vary')], ['W/"a"', ['accept-encoding']])
  fields = ['ETag: unquoted', 'Vary: *']
  const odd = await get()
  assert.deepEqual([odd.field('etag'), odd.all('vary')], [null, ['*']])
  fields = ['Connection: content-encoding, Vary, x-gone', 'X-Gone: 1']
  const named = await get()
  assert.deepEqual(
    [textOf(named), named.all('vary'), named.field('x-gone')],
    [page, ['Accept-Encoding'], null],
  )
})

test('a client that revalidates what it has compressed keeps its weak validator; the origin sees what it sent', async t => {
  let respond = ''
  const origin = await startResponder(t, () => respond)
  const edge = await startBefore(t, origin)
  const not = (...fields: string[]) => ['HTTP/1.1 304 Not Modified', ...fields, '', ''].join('\r\n')
  respond = not('ETag: "a"', 'Content-Length: 5')
  const ours = await edge.ask(request('GET /', accepts('br'), 'If-None-Match: "z", W/"a"'))
  assert.deepEqual(
    [ours.field('etag'), ours.all('vary'), ours.field('content-length')],
    ['W/"a"', ['Accept-Encoding'], null],
  )
  assert.equal(origin.requests[0]!.field('if-none-match'), '"z", W/"a"')
  const theirs = await edge.ask(request('GET /', accepts('br'), 'If-None-Match: "a"'))
  assert.deepEqual(
    [theirs.field('etag'), theirs.all('vary'), theirs.field('content-length')],
    ['"a"', [], '5'],
  )
  await edge.ask(request('GET /', 'If-Match: W/"a"'))
  assert.equal(origin.requests[2]!.field('if-match'), 'W/"a"')
})

test('a response to a request for a range is compressed where the origin sent all', async t => {
  const edge = await start(t, ok(page, html))
  const got = await edge.ask(request('GET /', accepts('zstd'), 'Range: bytes=0-9'))
  assert.equal(textOf(got), page)
  assert.equal(got.field('content-encoding'), 'zstd')
})

test('trailers pass behind a compressed body, but for digests of what it was', async t => {
  const edge = await start(
    t,
    `HTTP/1.1 200 OK\r\n${html}\r\n${chunked}\r\n\r\n${chunks(large)}0\r\nX-Sum: 1\r\nContent-Digest: sha-256=:x:\r\n\r\n`,
  )
  const got = await edge.ask(request('GET /', accepts('gzip')))
  assert.deepEqual([textOf(got), got.trailers], [large, ['X-Sum: 1']])
})

test('an event is readable at once, and a drip of any other body as soon as the origin pauses', async t => {
  const types = [...usualCompression.types, 'text/event-stream']
  for (const type of ['text/event-stream', 'text/plain'])
    for (const coding of everyCoding) {
      const origin = await startOrigin(t, async wire => {
        await wire.request()
        await wire.send(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${chunked}\r\n\r\n`)
        await wire.ending
      })
      const edge = await startBefore(t, origin, { types })
      const client = await edge.connect()
      await client.send(request('GET /', accepts(coding)))
      assert.equal((await client.head()).field('content-encoding'), coding, 'the head comes before any body')
      const wire = await origin.wire()
      const decoding = decodeFrom(client, coding)
      for (let i = 0; i < 4; i++) {
        await wire.send(chunks(`data: event ${i}\n\n`))
        await decoding.until(`event ${i}\n\n`)
      }
      // More than is gathered, so that it is under way when the origin pauses.
      await wire.send(chunks(`${large}<the end>`))
      await decoding.until('<the end>')
      wire.reset()
      assert.equal(await client.ending, 'RST', 'no last event can be added')
      await until(() => isIdle(edge))
    }
})

test('a drip that never pauses is readable all the same, long before its end', async t => {
  for (const coding of everyCoding) {
    const origin = await startOrigin(t, async wire => {
      await wire.request()
      await wire.send(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${chunked}\r\n\r\n`)
      await wire.ending
    })
    const edge = await startBefore(t, origin)
    const client = await edge.connect()
    await client.send(request('GET /', accepts(coding)))
    await client.head()
    const wire = await origin.wire()
    const decoding = decodeFrom(client, coding)
    let seen = 0
    const watched = (async () => {
      for (; seen < 3; seen++) await decoding.until(`line ${seen}\n`)
    })()
    for (let i = 0; seen < 3; i++) {
      assert.ok(i < 600, `${seen} of ${i} lines after so many pieces`)
      // Short of what counts as a pause.
      await sleep(5)
      await wire.send(chunks(`line ${Math.floor(i / 50)}\n`))
    }
    await watched
    await wire.send(`${chunks('the end')}0\r\n\r\n`)
    await decoding.until('the end')
    await until(() => isIdle(edge))
  }
})

test('a response that its origin cuts is cut, compressed or not, and never looks whole', async t => {
  const origin = await startOrigin(t, async wire => {
    const { target } = await wire.request()
    const body = target === '/large' ? large : 'a little'
    await wire.send(`HTTP/1.1 200 OK\r\n${html}\r\n${chunked}\r\n\r\n${chunks(body)}`)
    await wire.ending
  })
  const edge = await startBefore(t, origin)
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  let nth = 0
  for (const coding of everyCoding)
    for (const target of ['/large', '/little']) {
      const client = await edge.connect()
      await client.send(request(`GET ${target}`, accepts(coding)))
      await client.head()
      await decodeFrom(client, coding).until(target === '/large' ? 'item' : 'a little')
      ;(await origin.wire(nth++)).reset()
      assert.equal(await client.ending, 'RST')
      assert.ok(!client.unread.endsWith('0\r\n\r\n'), 'no end of the body')
      const stream = open(session, { ':path': target, 'accept-encoding': coding })
      const response = responseTo(stream)
      await new Promise(resolve => stream.once('data', resolve))
      ;(await origin.wire(nth++)).reset()
      const { code, body } = await response
      assert.notEqual(code, 0)
      assert.throws(() => decoded(coding, body), 'what came does not look whole')
    }
  await until(() => isIdle(edge))
})

test('an origin that dies before anything was sent leaves room for an error', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(`HTTP/1.1 200 OK\r\n${html}\r\n${chunked}\r\n\r\nzz`)
  })
  const edge = await startBefore(t, origin)
  const got = await edge.ask(request('GET /', accepts('br'), 'Accept: application/json'))
  assert.deepEqual([got.status, got.field('content-encoding')], [502, null])
  await until(() => edge.accesses.length > 0)
  assert.equal(edge.accesses[0]!.compression, null)
  assert.ok(isIdle(edge))
})

test('a client that leaves frees its encoder at once, and one that does not read stops its origin', async t => {
  const { promise: poured, resolve } = Promise.withResolvers<number>()
  const { mock } = t.mock.method(codings.gzip, 'open')
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(`HTTP/1.1 200 OK\r\n${html}\r\n\r\n`)
    resolve(await wire.pour(noise))
  })
  const edge = await startBefore(t, origin)
  const client = await edge.connect()
  client.socket.pause()
  await client.send(request('GET /', accepts('gzip')))
  const bytes = await poured
  assert.ok(bytes < 64 * 1024 * 1024, `${bytes} bytes for a client that reads none`)
  assert.ok(!isIdle(edge))
  client.reset()
  await until(() => isIdle(edge))
  assert.deepEqual(
    mock.calls.map(({ result }) => result?.destroyed),
    [true],
  )
  assert.deepEqual(edge.events, [])
})

test('a client that reads late gets all of it', async t => {
  const body = Buffer.concat(Array.from({ length: 16 }, () => noise))
  const edge = await start(t, async (_, wire) => {
    await wire.send(`HTTP/1.1 200 OK\r\n${html}\r\nContent-Length: ${body.length}\r\n\r\n`)
    await wire.send(body)
    return undefined
  })
  for (const coding of everyCoding) {
    const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
    const late = open(session, { 'accept-encoding': coding })
    // Its window is as good as full: hardly anything comes before it is read.
    await until(() => late.readableLength > 60_000)
    const { body: got } = await responseTo(late)
    assert.ok(decoded(coding, got).equals(body))
  }
})

test('once the origin has left, a client that reads the last of it late gets it, and one that reads no more is cut', async t => {
  const body = Buffer.concat([noise, noise, noise.subarray(0, 30_000)])
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(
      `HTTP/1.1 200 OK\r\n${html}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
    )
    await wire.send(body)
  })
  const edge = await startBefore(t, origin, {}, { timeouts: { idle: 1_000 } })
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const { originConnections } = edge.metrics
  const hasLeft = (nth: number) => until(() => origin.wires.length === nth && originConnections.value === 0)
  const late = open(session, { 'accept-encoding': 'gzip' })
  await hasLeft(1)
  assert.ok(!isIdle(edge), 'some of it is still to be sent')
  const got = await responseTo(late)
  assert.ok(decoded('gzip', got.body).equals(body))
  const never = open(session, { 'accept-encoding': 'gzip' })
  await hasLeft(2)
  await until(() => isIdle(edge))
  never.resume()
  assert.deepEqual(
    edge.accesses.map(({ aborted }) => aborted),
    [false, true],
  )
})

/** What no encoder makes smaller. */
const noise = Buffer.from(Array.from({ length: 64 * 1024 }, (_, i) => (i * i * 2654435761) >>> 13))

test('beyond the memory of encoders, responses pass as they are, and are counted', async t => {
  const respond: Respond = async ({ target }, wire) => {
    if (target !== '/hold') return ok(page, html)
    await wire.send(`HTTP/1.1 200 OK\r\n${html}\r\n${chunked}\r\n\r\n${chunks('begun')}`)
    return undefined
  }
  const limits = { compressionMemory: codings.gzip.memory }
  const edge = await start(t, respond, {}, { limits })
  const holder = await edge.connect()
  await holder.send(request('GET /hold', accepts('gzip')))
  assert.equal((await holder.head()).field('content-encoding'), 'gzip')
  const other = await edge.ask(request('GET /', accepts('gzip')))
  assert.deepEqual(
    [other.field('content-encoding'), other.text, other.all('vary')],
    [null, page, ['Accept-Encoding']],
  )
  assert.equal(edge.metrics.compression.skipped.value, 1)
  holder.reset()
  await until(() => isIdle(edge))
  assert.equal((await edge.ask(request('GET /', accepts('gzip')))).field('content-encoding'), 'gzip')
})

test('an encoder that fails is an error of ours, and the log says so', async t => {
  const edge = await start(t, ({ target }) => ok(target === '/large' ? large : page, html), {
    levels: { zstd: 3, br: 4, gzip: 99 },
  })
  for (const target of ['/', '/large']) {
    const got = await edge.ask(request(`GET ${target}`, accepts('gzip')))
    assert.deepEqual([got.status, got.field('content-encoding')], [500, null])
  }
  assert.deepEqual(
    edge.events.map(({ msg }) => msg),
    ['request failed: internal error', 'request failed: internal error'],
  )
  assert.ok(isIdle(edge))
  assert.equal(textOf(await edge.ask(request('GET /', accepts('br')))), page)
})

test('a route that says nothing of compression looks at nothing, and passes all as it is', async t => {
  const edge = await startEdge(t, [(await startResponder(t, ok(page, html, 'ETag: "a"'))).url])
  const got = await edge.ask(request('GET /', accepts('br')))
  assert.deepEqual([got.text, got.field('etag'), got.all('vary')], [page, '"a"', []])
})

test('any body in any pieces comes out as it was', async t => {
  let pieces: readonly string[] = []
  const edge = await start(t, async (_, wire) => {
    await wire.send(`HTTP/1.1 200 OK\r\n${html}\r\n${chunked}\r\n\r\n`)
    for (const piece of pieces) {
      await wire.send(chunks(piece))
      if (piece.length % 3 === 0) await new Promise(setImmediate)
    }
    return '0\r\n\r\n'
  })
  const client = await edge.connect()
  const piece = fc.tuple(
    fc.constantFrom(1, 9, 700, 5_000, 33_000),
    fc.string({ minLength: 1, maxLength: 40, unit: 'binary-ascii' }),
  )
  const cut = piece.map(([times, text]) => text.repeat(times))
  await fc.assert(
    fc.asyncProperty(
      fc.array(cut, { maxLength: 8 }),
      fc.constantFrom(...everyCoding),
      async (cuts, coding) => {
        pieces = cuts
        await client.send(request('GET /', accepts(coding)))
        const got = await client.response()
        assert.equal(got.field('content-encoding'), coding)
        assert.ok(textOf(got) === cuts.join(''))
      },
    ),
    { numRuns: thorough(60, 25) },
  )
})
