// Origins of HTTP/2: what clients of HTTP/1.1 get from them, and they from those.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSecureServer, createServer, type ServerHttp2Stream, type Settings } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { errorCode, flag, frameType, setting } from '../../../../src/http2/frames/frames.ts'
import { selfSigned } from '../../../../src/process/demo/self-signed.ts'
import { Edge, edgeConfig, listenAt, recordOf, startEdge } from '../../../help/edge.ts'
import { ManualClock, patient } from '../../../help/clock.ts'
import { type Frame, rstStream, settings, uint32, windowUpdate } from '../../../help/http2.ts'
import { data, frame, headers, startHttp2Origin } from '../../../help/http2-origin.ts'
import { chunks, post, request } from '../../../help/raw.ts'
import { turnsUntil } from '../../../help/until.ts'

type Serve = (stream: ServerHttp2Stream, fields: readonly string[]) => void

const handshake = request(
  'GET /socket',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
)
const switched =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'
const goAway = (last: number, code: number = errorCode.none) =>
  frame(frameType.goAway, 0, 0, Buffer.concat([uint32(last), uint32(code)]))

async function startHttp2(
  t: TestContext,
  serve: Serve,
  settings: Settings = {},
): Promise<{ readonly url: string; sessions: number }> {
  const server = createServer({ settings })
  const origin = { url: '', sessions: 0 }
  server.on('session', session => {
    origin.sessions++
    t.after(() => session.destroy())
  })
  server.on('stream', (stream, _headers, _flags, raw) => {
    stream.on('error', () => {})
    serve(stream as ServerHttp2Stream, raw as unknown as string[])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  origin.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return origin
}

const h2c = { transport: { http: 'h2c' } } as const

test('a GET goes by HTTP/2, and its response comes back as it was', async t => {
  let asked: readonly string[] = []
  const origin = await startHttp2(t, (stream, fields) => {
    asked = fields
    stream.respond([':status', '200', 'x-a', '1', 'x-a', '2', 'content-length', '2'])
    stream.end('hi')
  })
  const edge = await startEdge(t, [origin.url], h2c)
  const answer = await edge.ask(request('GET /a?b', 'X-One: 1', 'TE: trailers'))
  assert.equal(answer.startLine, 'HTTP/1.1 200 OK')
  assert.deepEqual(answer.all('x-a'), ['1', '2'])
  assert.equal(answer.text, 'hi')
  assert.deepEqual(asked.slice(0, 8), [
    ':method',
    'GET',
    ':scheme',
    'http',
    ':authority',
    'site.test',
    ':path',
    '/a?b',
  ])
  assert.equal(asked[asked.indexOf('x-one') + 1], '1')
  assert.equal(asked[asked.indexOf('te') + 1], 'trailers')
  assert.equal(asked.includes('host'), false)
})

test('bodies of any size go both ways', async t => {
  const origin = await startHttp2(t, stream => {
    stream.respond([':status', '200'])
    stream.pipe(stream)
  })
  const edge = await startEdge(t, [origin.url], h2c)
  for (const size of [0, 1, 20_000, 70_000, 3_000_000]) {
    const body = Buffer.alloc(size, 'abcdefg').toString('latin1')
    const answer = await edge.ask(post('/', body))
    assert.equal(answer.text.length, size)
    assert.equal(answer.text, body)
  }
  assert.equal(origin.sessions, 1)
})

test('interim responses and trailers come back, and trailers go there', async t => {
  let sent: readonly string[] = []
  const origin = await startHttp2(t, stream => {
    stream.additionalHeaders({ ':status': 103, link: '</a.css>' })
    stream.on('trailers', (_headers, _flags, raw) => (sent = raw as unknown as string[]))
    stream.on('end', () => {
      stream.respond([':status', '200'], { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7' }))
      stream.end('body')
    })
    stream.resume()
  })
  const edge = await startEdge(t, [origin.url], h2c)
  const client = await edge.connect()
  await client.send(
    `${request('POST /', 'Transfer-Encoding: chunked', 'TE: trailers')}${chunks('abc')}0\r\nX-Mine: 1\r\n\r\n`,
  )
  const interim = await client.head()
  assert.deepEqual([interim.status, interim.field('link')], [103, '</a.css>'])
  const answer = await client.response('POST')
  assert.deepEqual([answer.text, answer.trailers], ['body', ['x-sum: 7']])
  assert.deepEqual(sent, ['x-mine', '1'])
})

test('HEAD, 204 and 304 have no body, and their length stands', async t => {
  const statuses = { '/head': 200, '/204': 204, '/304': 304 } as Record<string, number>
  const origin = await startHttp2(t, (stream, fields) => {
    const path = fields[fields.indexOf(':path') + 1]!
    const length = path === '/204' ? [] : ['content-length', '5']
    stream.respond([':status', String(statuses[path]), ...length], { endStream: true })
  })
  const edge = await startEdge(t, [origin.url], h2c)
  const client = await edge.connect()
  for (const [ask, length] of [
    ['HEAD /head', '5'],
    ['GET /204', null],
    ['GET /304', '5'],
    ['HEAD /head', '5'],
  ] as const) {
    await client.send(request(ask))
    const answer = await client.response(ask.split(' ')[0]!)
    assert.deepEqual([answer.status, answer.field('content-length')], [statuses[ask.split(' ')[1]!], length])
  }
})

test('many requests share a connection, and no more of them than either side wants', async t => {
  for (const [streams, granted, most] of [
    [100, 2, 2],
    [3, 100, 3],
  ] as const) {
    let [open, peak] = [0, 0]
    const held: ServerHttp2Stream[] = []
    const origin = await startHttp2(
      t,
      stream => {
        peak = Math.max(peak, ++open)
        held.push(stream)
        stream.on('close', () => open--)
        setImmediate(() => stream.respond({ ':status': 200 }, { endStream: true }))
      },
      { maxConcurrentStreams: granted },
    )
    const edge = await startEdge(t, [origin.url], { transport: { http: 'h2c', streams, connections: 1 } })
    const answers = await Promise.all(Array.from({ length: 20 }, () => edge.ask(request('GET /'))))
    assert.ok(answers.every(({ status }) => status === 200))
    assert.deepEqual([origin.sessions, peak], [1, most])
    assert.equal(edge.metrics.originStreams.value, 0)
    assert.equal(edge.metrics.originConnections.value, 1)
  }
})

test('a queue for streams is as long as it is set, and refuses the rest', async t => {
  const origin = await startHttp2Origin(t, () => {})
  const transport = { http: 'h2c', streams: 1, connections: 1, queue: { size: 1, timeout: 0 } } as const
  const edge = await startEdge(t, [origin.url], { transport })
  const ask = request('GET /', 'Accept: application/json')
  const first = await edge.connect()
  await first.send(ask)
  await turnsUntil(() => edge.metrics.originStreams.value === 1)
  const second = await edge.connect()
  await second.send(ask)
  const third = await edge.ask(ask)
  assert.equal(recordOf(third).error_code, 1200)
})

test('a client that leaves has its stream cancelled, and no other', async t => {
  const origin = await startHttp2Origin(t, () => {})
  const edge = await startEdge(t, [origin.url], h2c)
  const [stays, leaves] = [await edge.connect(), await edge.connect()]
  await stays.send(request('GET /stays'))
  await leaves.send(request('GET /leaves'))
  await turnsUntil(
    () => origin.wires[0]?.frames.filter(({ type }) => type === frameType.headers).length === 2,
  )
  const [wire] = origin.wires
  const [a, b] = [await wire!.next(frameType.headers), await wire!.next(frameType.headers)]
  const isLeaving = (sent: Frame) => wire!.fieldsOf(sent).some(([, value]) => value === '/leaves')
  const [gone, left] = isLeaving(a!) ? [a!, b!] : [b!, a!]
  leaves.leave()
  const reset = await wire!.next(frameType.rstStream)
  assert.deepEqual([reset!.stream, reset!.payload.readUInt32BE(0)], [gone.stream, errorCode.cancel])
  wire!.answer(left.stream, 'fine')
  assert.equal((await stays.response()).text, 'fine')
})

test('clients that leave again and again cannot get the requests of others lost', async t => {
  for (const connections of [0, 1]) {
    const server = createServer({ streamResetBurst: 120, streamResetRate: 1 })
    let sessions = 0
    server.on('session', session => {
      sessions++
      session.on('error', () => {})
      t.after(() => session.destroy())
    })
    const held = Promise.withResolvers<ServerHttp2Stream>()
    server.on('stream', (stream, fields) => {
      stream.on('error', () => {})
      if (fields[':path'] === '/stays') held.resolve(stream as ServerHttp2Stream)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const edge = await startEdge(t, [url], { transport: { http: 'h2c', connections, streams: 200 } })
    const stays = await edge.connect()
    await stays.send(request('GET /stays'))
    const stream = await held.promise
    for (const number of connections === 0 ? [100, 40] : [105]) {
      const clients = await Promise.all(Array.from({ length: number }, () => edge.connect()))
      for (const client of clients) await client.send(request('GET /leaves'))
      await turnsUntil(() => edge.metrics.originStreams.value === number + 1)
      for (const client of clients) client.reset()
      await turnsUntil(() => edge.metrics.originStreams.value === 1)
    }
    stream.respond()
    stream.end('fine')
    assert.equal((await stays.response()).text, 'fine')
    assert.equal(sessions, connections === 0 ? 2 : 1)
  }
})

test('requests that an origin refuses or has not seen go to another connection, whatever their method', async t => {
  const origin = await startHttp2Origin(t, async (wire, nth) => {
    for (let stream = await wire.request(); stream !== 0; stream = await wire.request()) {
      if (nth === 0) wire.send(rstStream(stream, errorCode.refusedStream))
      else if (nth === 1) wire.send(goAway(0))
      else wire.answer(stream, `by ${nth}`)
    }
  })
  const edge = await startEdge(t, [origin.url], h2c)
  assert.equal((await edge.ask(post('/', 'x'))).text, 'by 2')
  assert.equal(edge.accesses.at(-1)!.status, 200)
})

test('requests beyond what each connection of an origin takes are served once each, and in time not sent there', async t => {
  const most = 20
  const served: string[] = []
  let refused = 0
  const origin = await startHttp2Origin(t, async wire => {
    let taken = 0
    for (let next = await wire.next(frameType.headers); next; next = await wire.next(frameType.headers)) {
      const path = wire.fieldsOf(next).find(([name]) => name === ':path')![1]
      if (++taken > most) {
        refused++
        continue
      }
      served.push(path)
      wire.answer(next.stream, path)
      if (taken === most) wire.send(goAway(next.stream))
    }
  })
  const pool = { retries: { most: 2, budget: 1 } }
  const edge = await startEdge(t, [origin.url], {
    pool,
    transport: { http: 'h2c', streams: 30, connections: 4 },
  })
  const wave = async (name: string) => {
    const paths = Array.from({ length: 200 }, (_, i) => `/${name}${i}`)
    const answers = await Promise.all(paths.map(path => edge.ask(post(path, 'x'))))
    assert.deepEqual(
      answers.map(({ text }) => text),
      paths,
    )
  }
  await wave('a')
  assert.ok(refused > 0)
  const before = refused
  await wave('b')
  assert.equal(refused, before, 'no request went where it would be refused')
  assert.equal(new Set(served).size, 400)
  assert.equal(served.length, 400, 'none was served twice')
})

test('a request that every connection refuses fails once the budget for retries is used up', async t => {
  for (const [budget, attempts] of [
    [0.2, 12],
    [0, 2],
  ] as const) {
    let asked = 0
    const origin = await startHttp2Origin(t, async wire => {
      for (let stream = await wire.request(); stream !== 0; stream = await wire.request()) {
        asked++
        wire.send(goAway(0))
      }
    })
    const edge = await startEdge(t, [origin.url], { ...h2c, pool: { retries: { most: 2, budget } } })
    const { status } = await edge.ask(post('/', 'x'))
    assert.deepEqual([status, asked], [520, attempts])
    assert.equal(edge.metrics.retryBudgetExhausted.value, 1)
  }
})

test('a request that is refused again and again fails once its time for a response is over', async t => {
  const clock = new ManualClock()
  let asked = 0
  const origin = await startHttp2Origin(t, async wire => {
    await wire.request()
    asked++
    // Its time begins with the second refusal: the first costs nothing.
    if (asked > 2) {
      clock.advance(600)
      await turnsUntil(() => edge.plane.coarseNow >= clock.now())
    }
    wire.send(goAway(0))
  })
  const config = edgeConfig([origin.url], { ...h2c, timeouts: { response: 1_000 } })
  const edge = await listenAt(t, new Edge(t, config, { clock }))
  assert.equal((await edge.ask(post('/', 'x'))).status, 520)
  assert.equal(asked, 4)
})

test('a request that its origin refuses again goes to another one', async t => {
  let asked = 0
  const refusing = await startHttp2Origin(t, async wire => {
    while ((await wire.request()) !== 0) {
      asked++
      wire.send(goAway(0))
    }
  })
  const other = await startHttp2Origin(t, async wire => {
    for (let stream = await wire.request(); stream !== 0; stream = await wire.request())
      wire.answer(stream, 'other')
  })
  const edge = await startEdge(t, [refusing.url, other.url], h2c)
  for (let i = 0; i < 2; i++) assert.equal((await edge.ask(post('/', 'x'))).text, 'other')
  assert.equal(asked, 2)
})

for (const [sent, isAgain] of [
  [70_000, true],
  [140_000, false],
] as const)
  test(`an upload that is refused with ${sent} bytes on their way is ${isAgain ? 'sent again from its beginning' : 'lost'}`, async t => {
    const text = Array.from({ length: 40_000 }, (_, i) => String(i % 10).repeat(5)).join('')
    let asked = 0
    const origin = await startHttp2Origin(
      t,
      async (wire, nth) => {
        const stream = await wire.request()
        asked++
        let body = ''
        const isWhole = () => body.length >= (nth === 0 ? sent : text.length)
        while (!isWhole()) body += (await wire.next(frameType.data))!.payload.toString()
        if (nth === 0) return wire.send(goAway(0))
        wire.answer(stream, body === text ? 'whole' : 'not whole')
      },
      Buffer.concat([settings([setting.initialWindowSize, 2 ** 20]), windowUpdate(0, 2 ** 20)]),
    )
    const edge = await startEdge(t, [origin.url], h2c)
    const client = await edge.connect()
    await client.send(request('POST /', `Content-Length: ${text.length}`) + text.slice(0, sent))
    if (isAgain) {
      await turnsUntil(() => asked === 2)
      await client.send(text.slice(sent))
    }
    const { status, text: answer } = await client.response()
    assert.deepEqual([status, asked], isAgain ? [200, 2] : [520, 1])
    if (isAgain) assert.equal(answer, 'whole')
  })

test('a request that an origin refuses goes out again by the only connection that it may have', async t => {
  const origin = await startHttp2Origin(t, async wire => {
    const held = await wire.request()
    wire.send(rstStream(await wire.request(), errorCode.refusedStream))
    await turnsUntil(() => edge.metrics.originQueue.value === 1)
    wire.answer(held, 'held')
    wire.answer(await wire.request(), 'again')
  })
  const edge = await startEdge(t, [origin.url], { transport: { http: 'h2c', connections: 1 } })
  const held = edge.ask(request('GET /'))
  await turnsUntil(() => edge.metrics.originStreams.value === 1)
  assert.equal((await edge.ask(post('/', 'x'))).text, 'again')
  assert.equal((await held).text, 'held')
})

test('an upload that waited for another one goes by a connection that was used before', async t => {
  const origin = await startHttp2Origin(
    t,
    async wire => {
      const held = await wire.request()
      const first = await wire.request()
      await turnsUntil(() => edge.metrics.originQueue.value === 1)
      await uploads[0]!.send('x')
      // It has no stream to go by yet.
      while (((await wire.next(frameType.data))!.flags & flag.endStream) === 0);
      wire.answer(held, 'held')
      const second = await wire.request()
      await uploads[1]!.send('x')
      wire.answer(first, 'first')
      wire.answer(second, 'second')
    },
    Buffer.concat([settings([setting.initialWindowSize, 2 ** 20]), windowUpdate(0, 2 ** 20)]),
  )
  const edge = await startEdge(t, [origin.url], { transport: { http: 'h2c', streams: 2, connections: 1 } })
  const held = edge.ask(request('GET /'))
  await turnsUntil(() => edge.metrics.originStreams.value === 1)
  const length = 70_000
  const uploads = await Promise.all([edge.connect(), edge.connect()])
  for (const upload of uploads) {
    await upload.send(request('POST /', `Content-Length: ${length}`) + 'x'.repeat(length - 1))
    await turnsUntil(() => edge.metrics.originStreams.value === 2)
  }
  const answers = await Promise.all(uploads.map(upload => upload.response()))
  assert.deepEqual(
    answers.map(({ text }) => text),
    ['first', 'second'],
  )
  assert.equal((await held).text, 'held')
})

test('an origin that leaves fails no request, however often it does', async t => {
  const origin = await startHttp2(t, stream => {
    stream.respond({ ':status': 200 })
    stream.end('fine')
    // As servers do behind some number of requests.
    if (Number(stream.id) >= 9) stream.session!.close()
  })
  const edge = await startEdge(t, [origin.url], { transport: { http: 'h2c', streams: 4, connections: 2 } })
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => edge.ask(post('/', 'x'))))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  }
  assert.ok(origin.sessions >= 10, `${origin.sessions}`)
})

test('a response that an origin completes after a GOAWAY with an error code reaches its client', async t => {
  const origin = await startHttp2Origin(t, async wire => {
    const stream = await wire.request()
    wire.send(
      headers(stream, [[':status', '200']], flag.endHeaders),
      goAway(stream, errorCode.enhanceYourCalm),
    )
    wire.send(data(stream, 'whole', flag.endStream))
  })
  const edge = await startEdge(t, [origin.url], h2c)
  assert.equal((await edge.ask(request('GET /'))).text, 'whole')
  await turnsUntil(() => edge.metrics.originConnections.value === 0)
})

test('a request that an origin has begun to work on is not repeated unless it may be', async t => {
  let asked = 0
  const origin = await startHttp2Origin(t, async wire => {
    await wire.request()
    asked++
    wire.socket.destroy()
  })
  const edge = await startEdge(t, [origin.url], h2c)
  assert.equal((await edge.ask(post('/', 'x'))).status, 520)
  assert.equal(asked, 1)
})

test('a client that reads slowly holds up its own response alone', async t => {
  const large = Buffer.alloc(8 * 1024 * 1024, 'x')
  const origin = await startHttp2(t, (stream, fields) => {
    stream.respond({ ':status': 200 })
    stream.end(fields.includes('/large') ? large : 'small')
  })
  const edge = await startEdge(t, [origin.url], { transport: { http: 'h2c', connections: 1 } })
  const slow = await edge.connect()
  slow.socket.pause()
  await slow.send(request('GET /large'))
  for (let i = 0; i < 50; i++) assert.equal((await edge.ask(request('GET /small'))).text, 'small')
  assert.equal(edge.metrics.originStreams.value, 1)
  slow.socket.resume()
  assert.equal((await slow.response()).body.length, large.length)
  assert.equal(origin.sessions, 1)
})

test('an origin that reads slowly holds up its own request alone', async t => {
  const origin = await startHttp2(t, (stream, fields) => {
    if (fields.includes('/slow')) return
    stream.respond({ ':status': 200 })
    stream.end('quick')
  })
  const edge = await startEdge(t, [origin.url], { transport: { http: 'h2c', connections: 1 } })
  const slow = await edge.connect()
  const poured = slow.send(post('/slow', 'x'.repeat(8 * 1024 * 1024))).catch(() => {})
  for (let i = 0; i < 50; i++) assert.equal((await edge.ask(request('GET /quick'))).text, 'quick')
  slow.leave()
  await poured
})

for (const isAlive of [true, false])
  test(`a connection that owes responses and says nothing is asked for a sign of life, which ${isAlive ? 'comes' : 'fails'}`, async t => {
    const origin = await startHttp2Origin(t, async (wire, nth) => {
      // The second request is one that takes long.
      for (let stream = await wire.request(); stream !== 0; stream = await wire.request())
        if (nth > 0 || stream !== 3) wire.answer(stream, `by ${nth}`)
    })
    const clock = new ManualClock()
    const edge = await startEdge(t, [origin.url], { ...h2c, ...patient, clock })
    const pass = async (ms: number) => {
      clock.advance(ms)
      await turnsUntil(() => edge.plane.coarseNow === clock.monotonic())
    }
    assert.equal((await edge.ask(request('GET /'))).text, 'by 0')
    // However long a connection was idle, its next request is not late.
    await pass(50_000)
    const waits = await edge.connect()
    await waits.send(post('/', 'x'))
    await turnsUntil(() => edge.metrics.originStreams.value === 1)
    const [wire] = origin.wires
    assert.equal((await edge.ask(request('GET /'))).text, 'by 0')
    await pass(5_000)
    const later = edge.ask(request('GET /'))
    await turnsUntil(() => wire!.frames.some(({ type }) => type === frameType.ping))
    if (isAlive) {
      wire!.send(frame(frameType.ping, flag.ack, 0, '12345678'))
      assert.equal((await later).text, 'by 0')
      assert.equal(origin.wires.length, 1)
      return
    }
    await pass(1_000)
    assert.equal((await later).text, 'by 1')
    assert.equal((await edge.ask(request('GET /'))).text, 'by 1')
    await pass(9_000)
    assert.equal((await waits.response('POST')).status, 520)
    assert.equal(edge.accesses.at(-1)!.cause, 'GH_CLOSED')
    assert.equal(edge.metrics.originHttp2Faults.silence.value, 1)
  })

test('a request that could not wait goes to a connection that says nothing all the same', async t => {
  const origin = await startHttp2Origin(t, () => {})
  const clock = new ManualClock()
  const transport = { http: 'h2c', connections: 1, queue: { size: 0, timeout: 0 } } as const
  const edge = await startEdge(t, [origin.url], { transport, ...patient, clock })
  const asking = async (requests: number) => {
    const client = await edge.connect()
    await client.send(request('GET /'))
    await turnsUntil(() => edge.metrics.originStreams.value === requests)
  }
  await asking(1)
  clock.advance(5_000)
  await turnsUntil(() => edge.plane.coarseNow === clock.monotonic())
  await asking(2)
})

test('over TLS the handshake decides, for a while', async t => {
  const certificate = selfSigned('localhost')
  let asked = 0
  const respond = (incoming: { httpVersion: string }, outgoing: { end(text: string): unknown }) => {
    asked++
    outgoing.end(incoming.httpVersion)
  }
  const servers = {
    '2.0': createSecureServer(certificate, respond),
    '1.1': createHttps(certificate, respond),
  }
  for (const [version, server] of Object.entries(servers)) {
    asked = 0
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const edge = await startEdge(t, [{ url, tls: { verify: false } }], { transport: { http: '2' } })
    const answers = await Promise.all(Array.from({ length: 5 }, () => edge.ask(request('GET /'))))
    assert.deepEqual(new Set(answers.map(({ text }) => text)), new Set([version]))
    assert.equal((await edge.ask(request('GET /'))).text, version)
    assert.equal(asked, 6)
  }
})

test('a handshake that fails is told as over HTTP/1.1', async t => {
  const ask = request('GET /', 'Accept: application/json')
  const certificate = selfSigned('localhost')
  for (const [code, verify, options] of [
    [526, true, {}],
    [525, false, { requestCert: true, rejectUnauthorized: true }],
  ] as const) {
    const outcomes: unknown[] = []
    for (const [http, server] of [
      ['2', createSecureServer({ ...certificate, ...options })],
      ['1', createHttps({ ...certificate, ...options })],
    ] as const) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.after(() => server.close())
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
      const edge = await startEdge(t, [{ url, tls: { verify } }], { transport: { http } })
      const { error_code, detail } = recordOf(await edge.ask(ask))
      assert.equal(error_code, code)
      const { error, cause } = edge.accesses.at(-1)!
      outcomes.push({ detail, error, cause })
    }
    assert.deepEqual(outcomes[0], outcomes[1])
  }
})

test('a WebSocket takes a connection of HTTP/1.1', async t => {
  const server = createSecureServer(
    { ...selfSigned('localhost'), allowHTTP1: true },
    (incoming, outgoing) => {
      outgoing.end(incoming.httpVersion)
    },
  )
  server.on('upgrade', (incoming, socket) => {
    assert.equal(incoming.httpVersion, '1.1')
    socket.end(switched)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const edge = await startEdge(t, [{ url, tls: { verify: false } }], {
    transport: { http: '2', connections: 1 },
  })
  for (let i = 0; i < 2; i++) {
    assert.equal((await edge.ask(request('GET /'))).text, '2.0')
    const client = await edge.connect()
    await client.send(handshake)
    assert.equal((await client.head()).status, 101)
    client.leave()
  }
})

test('WebSockets take no origin from others that speaks HTTP/2 alone', async t => {
  const server = createSecureServer(selfSigned('localhost'), (_, outgoing) => void outgoing.end('served'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const secured = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const plain = await startHttp2(t, stream => {
    stream.respond({ ':status': 200 })
    stream.end('served')
  })
  for (const [http, url, status] of [
    ['2', secured, 525],
    ['h2c', plain.url, 520],
  ] as const) {
    const members = [url, url].map(member => ({ url: member, tls: { verify: false } }))
    const edge = await startEdge(t, members, { transport: { http } })
    for (let i = 0; i < 6; i++) assert.equal((await edge.ask(handshake)).status, status)
    assert.equal(edge.metrics.ejections.value, 0)
    assert.equal((await edge.ask(request('GET /'))).text, 'served')
  }
})

test('a reload that needs an origin no more closes its connections', async t => {
  const origin = await startHttp2(t, stream => stream.respond({ ':status': 200 }, { endStream: true }))
  const edge = await startEdge(t, [origin.url], h2c)
  assert.equal((await edge.ask(request('GET /'))).status, 200)
  const config = edgeConfig(['http://127.0.0.1:9'], h2c)
  edge.reload(config)
  await turnsUntil(() => edge.metrics.originConnections.value === 0)
})

test('an origin that is down is 521', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:9'], h2c)
  assert.equal(recordOf(await edge.ask(request('GET /', 'Accept: application/json'))).error_code, 521)
})
