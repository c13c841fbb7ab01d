// gRPC through the gateway, with its own client and server on either side.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp1 } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import {
  Metadata,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { ManualClock } from '../help/clock.ts'
import { Edge, type EdgeParts, type EdgeSettings, edgeConfig, listenAt } from '../help/edge.ts'
import { Origin } from '../../src/edge/origin/origin.ts'
import { errorCode, flag, frameType } from '../../src/http2/frames/frames.ts'
import { data, headers, startHttp2Origin } from '../help/http2-origin.ts'
import { rstStream } from '../help/http2.ts'
import { deadOrigin } from '../help/origin.ts'
import { type EchoClient, grpcClient, startGrpc } from '../help/grpc.ts'
import { turnsUntil, until } from '../help/until.ts'

type Answer = sendUnaryData<Buffer>

/** What the server was told. */
interface Seen {
  cancelled: number
  metadata: Metadata | null
}

async function start(t: TestContext, settings: EdgeSettings = {}, parts: EdgeParts = {}) {
  const seen: Seen = { cancelled: 0, metadata: null }
  const port = await startGrpc(t, {
    unary(call: ServerUnaryCall<Buffer, Buffer>, done: Answer) {
      seen.metadata = call.metadata
      call.on('cancelled', () => seen.cancelled++)
      const text = call.request.toString()
      if (text === 'wait') return
      const trailers = new Metadata()
      trailers.set('x-cost', '7')
      if (text === 'fail')
        done({ code: status.FAILED_PRECONDITION, details: 'no: 100 %', metadata: trailers })
      else done(null, call.request, trailers)
    },
    collect(call: ServerReadableStream<Buffer, Buffer>, done: Answer) {
      const pieces: Buffer[] = []
      call.on('data', piece => pieces.push(piece))
      call.on('end', () => done(null, Buffer.concat(pieces)))
    },
    async spread(call: ServerWritableStream<Buffer, Buffer>) {
      call.on('cancelled', () => seen.cancelled++)
      const text = call.request.toString()
      if (text === 'hang') return void call.write(Buffer.from('one'))
      const count = Number(text)
      for (let i = 0; i < count && !call.cancelled; i++)
        if (!call.write(Buffer.alloc(10_000, i)))
          await Promise.race([once(call, 'drain'), once(call, 'cancelled')])
      call.end()
    },
    both(call: ServerDuplexStream<Buffer, Buffer>) {
      if (call.metadata.get('x-greet').length > 0) call.write(Buffer.from('hello'))
      call.on('data', (piece: Buffer) => call.write(Buffer.from(`back: ${piece}`)))
      call.on('end', () => call.end())
    },
  })
  return { seen, ...(await before(t, `http://127.0.0.1:${port}`, settings, parts)) }
}

async function before(t: TestContext, url: string, settings: EdgeSettings = {}, parts: EdgeParts = {}) {
  const config = edgeConfig([url], { transport: { http: 'h2c' }, ...settings, h2c: true })
  const edge = await listenAt(t, new Edge(t, config, parts))
  return { edge, client: grpcClient(t, edge.port) }
}

interface Outcome {
  readonly error: ServiceError | null
  readonly response: Buffer | undefined
  readonly trailers: Metadata
}

/** Starts a server that responds as soon as it has the head of a call, and returns each piece of its body as it comes. */
async function startGreeting2(t: TestContext): Promise<{ readonly url: string }> {
  const server = createHttp2()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    stream.pipe(stream)
  })
  server.on('session', session => t.after(() => session.destroy()))
  return listening(t, server)
}

/** The same by HTTP/1.1. */
async function startGreeting1(t: TestContext): Promise<{ readonly url: string }> {
  const server = createHttp1((request, response) => {
    response.writeHead(200, { 'content-type': 'application/grpc' })
    response.flushHeaders()
    request.pipe(response)
  })
  t.after(() => server.closeAllConnections())
  return listening(t, server)
}

async function listening(t: TestContext, server: NetServer): Promise<{ readonly url: string }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Makes a call of one message either way, and returns how it ended. */
function call(client: EchoClient, text: string, ms?: number): Promise<Outcome> {
  return new Promise(resolve => {
    let outcome: Omit<Outcome, 'trailers'> | null = null
    let trailers: Metadata | null = null
    const settle = () => outcome !== null && trailers !== null && resolve({ ...outcome, trailers })
    const options = ms === undefined ? {} : { deadline: Date.now() + ms }
    const metadata = new Metadata()
    metadata.set('x-asked', 'yes')
    metadata.set('x-raw-bin', Buffer.from([0, 255]))
    const made = client.unary(Buffer.from(text), metadata, options, (error, response) => {
      outcome = { error, response }
      settle()
    })
    made.on('status', ({ metadata: got }) => {
      trailers = got
      settle()
    })
  })
}

test('calls of one message pass, with metadata both ways and a status in trailers', async t => {
  const { client, seen, edge } = await start(t)
  const good = await call(client, 'hello')
  assert.deepEqual([good.error, String(good.response), good.trailers.get('x-cost')], [null, 'hello', ['7']])
  assert.deepEqual(seen.metadata!.get('x-asked'), ['yes'])
  assert.deepEqual(seen.metadata!.get('x-raw-bin'), [Buffer.from([0, 255])])
  const bad = await call(client, 'fail')
  assert.deepEqual([bad.error?.code, bad.error?.details], [status.FAILED_PRECONDITION, 'no: 100 %'])
  assert.deepEqual(bad.trailers.get('x-cost'), ['7'])
  await until(() => edge.accesses.length === 2)
  assert.deepEqual(
    edge.accesses.map(({ version, status: of }) => [version, of]),
    [
      ['2', 200],
      ['2', 200],
    ],
  )
})

test('streams pass in every direction, each message as it is sent', async t => {
  const { client } = await start(t)
  const collected = await new Promise<Buffer | undefined>((resolve, reject) => {
    const stream = client.collect((error, response) => (error === null ? resolve(response) : reject(error)))
    for (let i = 0; i < 50; i++) stream.write(Buffer.alloc(10_000, i))
    stream.end()
  })
  assert.equal(collected?.length, 500_000)
  let count = 0
  const spread = client.spread(Buffer.from('50'))
  spread.on('data', (message: Buffer) => {
    assert.ok(message.equals(Buffer.alloc(10_000, count++)))
  })
  await once(spread, 'end')
  assert.equal(count, 50)
  const both = client.both()
  for (const text of ['one', 'two', 'three']) {
    both.write(Buffer.from(text))
    assert.equal(String((await once(both, 'data'))[0]), `back: ${text}`)
  }
  both.end()
  const [{ code }] = await once(both, 'status')
  assert.equal(code, status.OK)
})

test('a server may speak first', async t => {
  const { client } = await start(t)
  const metadata = new Metadata()
  metadata.set('x-greet', 'yes')
  const both = client.both(metadata)
  assert.equal(String((await once(both, 'data'))[0]), 'hello')
  both.end()
  const [{ code }] = await once(both, 'status')
  assert.equal(code, status.OK)
})

for (const http of ['h2c', '1'] as const)
  test(`the head and each message of a call go at once, by ${http === '1' ? 'HTTP/1.1' : 'HTTP/2'} too`, async t => {
    // Its clock stands still, so that no pause ends.
    const clock = new ManualClock()
    const origin = http === '1' ? await startGreeting1(t) : await startGreeting2(t)
    const config = edgeConfig([origin.url], { transport: { http }, h2c: true })
    const edge = await listenAt(t, new Edge(t, config, { clock }))
    const session = connectHttp2(`http://127.0.0.1:${edge.port}`)
    t.after(() => session.destroy())
    const stream = session.request({
      ':method': 'POST',
      ':authority': 'site.test',
      ':path': '/test.Echo/Both',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const [head] = await once(stream, 'response')
    assert.equal(head[':status'], 200, 'before the client has said anything')
    for (const text of ['one', 'two']) {
      stream.write(text)
      assert.equal(String((await once(stream, 'data'))[0]), text)
    }
    stream.end()
    stream.resume()
    await once(stream, 'close')
  })

test('a call whose one message comes together with its head goes out whole', async t => {
  const { client, edge } = await start(t)
  const upload = t.mock.method(Origin.prototype, 'acquireForUpload')
  assert.equal(String((await call(client, 'hello')).response), 'hello')
  assert.equal(upload.mock.callCount(), 0)
  assert.equal(edge.metrics.originConnections.value, 1)
})

test('a call whose client says little lasts, before its server has said anything', async t => {
  const clock = new ManualClock()
  const { client, edge } = await start(t, { timeouts: { idle: 20_000 } }, { clock })
  const collected = Promise.withResolvers<Buffer | ServiceError | undefined>()
  const stream = client.collect((error, response) => collected.resolve(error ?? response))
  for (let second = 0; second < 15; second++) {
    stream.write(Buffer.from('x'))
    clock.advance(1_000)
    await turnsUntil(() => edge.plane.coarseNow >= clock.now())
  }
  stream.end()
  assert.equal(String(await collected.promise), 'x'.repeat(15))
})

test('more than a hundred calls reach a server whose clients have nothing to say yet', async t => {
  const { client, edge } = await start(t)
  for (let i = 0; i < 101; i++) client.both().on('error', () => {})
  await until(() => edge.metrics.originStreams.value === 101)
})

test('a call ends with its deadline while there is no room for it', async t => {
  const transport = { http: 'h2c', streams: 1, connections: 1 } as const
  const { client, edge } = await start(t, { transport })
  const metadata = new Metadata()
  metadata.set('grpc-timeout', '100m')
  const [{ code }] = await once(client.both(metadata), 'error')
  assert.equal(code, status.DEADLINE_EXCEEDED)
  await until(() => edge.accesses.length === 1)
  assert.equal(edge.accesses[0]!.cause, 'GH_CALL_TIMEOUT')
  assert.equal(
    edge.metrics.originConnections.value,
    0,
    'it takes no connection from calls that are here whole',
  )
})

test('a server hears that a call was cancelled, or is past its deadline', async t => {
  const { client, seen, edge } = await start(t)
  const late = await call(client, 'wait', 300)
  assert.equal(late.error?.code, status.DEADLINE_EXCEEDED)
  await until(() => seen.cancelled === 1)
  const endless = client.spread(Buffer.from('100000000'))
  endless.on('error', () => {})
  await once(endless, 'data')
  endless.cancel()
  await until(() => seen.cancelled === 2)
  await until(() => edge.accesses.length === 2)
})

/** Makes a call that hangs behind its first message; the client keeps no deadline by itself. */
async function hang(client: EchoClient): Promise<ServiceError> {
  const metadata = new Metadata()
  metadata.set('grpc-timeout', '400m')
  const stream = client.spread(Buffer.from('hang'), metadata)
  const failed = Promise.withResolvers<ServiceError>()
  stream.on('error', failed.resolve)
  assert.equal(String((await once(stream, 'data'))[0]), 'one')
  return failed.promise
}

test('a call that is past its deadline in mid stream ends with a status, and its server hears of it', async t => {
  // Told of the deadline, the server would keep it by itself.
  const requestHeaders = [{ name: 'grpc-timeout', value: null }]
  const { client, seen, edge } = await start(t, {
    route: { rewrite: { path: null, requestHeaders, responseHeaders: [] } },
    timeouts: { idle: 0 },
  })
  const { code, details } = await hang(client)
  assert.equal(code, status.DEADLINE_EXCEEDED)
  assert.match(details, /origin|server|site/i)
  await until(() => seen.cancelled === 1)
  await until(() => edge.accesses.length === 1)
  assert.deepEqual([edge.accesses[0]!.status, edge.accesses[0]!.cause], [200, 'GH_CALL_TIMEOUT'])
  assert.equal(edge.metrics.originStreams.value, 0)
})

test('the stream of a call that is past its deadline is reset as cancelled', async t => {
  const reset = Promise.withResolvers<number>()
  const origin = await startHttp2Origin(t, async wire => {
    const stream = await wire.request()
    wire.send(responseHead(stream), data(stream, Buffer.from('\0\0\0\0\x03one')))
    reset.resolve((await wire.next(frameType.rstStream))!.payload.readUInt32BE(0))
  })
  const { client } = await before(t, origin.url)
  assert.equal((await hang(client)).code, status.DEADLINE_EXCEEDED)
  assert.equal(await reset.promise, errorCode.cancel)
})

test('a call that is cut in the middle of a message ends with a status, but not behind a length', async t => {
  for (const [length, code] of [
    [null, status.UNAVAILABLE],
    ['100', status.INTERNAL],
  ] as const) {
    const hasBegun = Promise.withResolvers<void>()
    const origin = await startHttp2Origin(t, async wire => {
      const stream = await wire.request()
      wire.send(responseHead(stream, length), data(stream, Buffer.from('\0\0\0\0\x03on')))
      await hasBegun.promise
      wire.send(rstStream(stream, errorCode.internal))
    })
    const { client } = await before(t, origin.url)
    const stream = client.spread(Buffer.from(''))
    const failed = Promise.withResolvers<ServiceError>()
    stream.on('error', failed.resolve)
    stream.on('metadata', hasBegun.resolve)
    stream.resume()
    assert.equal((await failed.promise).code, code)
  }
})

function responseHead(stream: number, length: string | null = null): Buffer {
  const fields: [string, string][] = [
    [':status', '200'],
    ['content-type', 'application/grpc'],
  ]
  if (length !== null) fields.push(['content-length', length])
  return headers(stream, fields, flag.endHeaders)
}

test('a call that the gateway refuses has a status that says why', async t => {
  const { client } = await before(t, deadOrigin().url)
  const dead = await call(client, 'hello')
  assert.equal(dead.error?.code, status.UNAVAILABLE)
  assert.match(dead.error!.details, /origin|server|site/i)
  assert.match(String(dead.trailers.get('svc-ray')[0]), /^[0-9a-f]{16}$/)
  const denied = await before(t, deadOrigin().url, { access: { rules: [], otherwise: 'deny' } })
  assert.equal((await call(denied.client, 'hello')).error?.code, status.PERMISSION_DENIED)
})
