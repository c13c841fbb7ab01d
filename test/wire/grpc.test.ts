// gRPC through the gateway, with its own client and server on either side.

import assert from 'node:assert/strict'
import { once } from 'node:events'
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
import { errorCode, flag, frameType } from '../../src/http2/frames.ts'
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
