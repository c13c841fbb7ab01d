// What gRPC servers do to calls on their way through the gateway: they leave, die, and take many at a time.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import {
  Metadata,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { type EchoClient, grpcClient, startGrpc } from '../help/grpc.ts'
import { turnsUntil } from '../help/until.ts'

const message = 'x'.repeat(10_000)

/** Starts a server, something between that a test can cut, the gateway, and a client. */
async function start(t: TestContext) {
  const port = await startGrpc(t, {
    unary: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => done(null, call.request),
    collect() {},
    spread(call: ServerWritableStream<Buffer, Buffer>) {
      for (let i = 0; i < 100; i++) call.write(Buffer.from(message))
    },
    both(call: ServerDuplexStream<Buffer, Buffer>) {
      call.on('data', (piece: Buffer) => call.write(piece))
      call.on('end', () => call.end())
    },
  })
  const between = await cuttable(t, port)
  const transport = { http: 'h2c', streams: 2_000 } as const
  const config = edgeConfig([`http://127.0.0.1:${between.port}`], { transport })
  const listen = [{ host: '127.0.0.1', port: 0, tls: false, h2c: true }]
  const http2 = { ...config.http2, maxConcurrentStreams: 2_000 }
  const edge = await listenAt(t, new Edge(t, { ...config, listen, http2 }))
  return { edge, client: grpcClient(t, edge.port), between }
}

interface Between {
  readonly port: number
  readonly sockets: readonly Socket[]
  readonly server: NetServer
}

async function cuttable(t: TestContext, to: number): Promise<Between> {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    const other = connect(to, '127.0.0.1')
    sockets.push(socket)
    socket.pipe(other).pipe(socket)
    for (const each of [socket, other]) each.on('error', () => {})
    socket.on('close', () => other.destroy())
    t.after(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, sockets, server }
}

function unary(client: EchoClient, text: string): Promise<string | number> {
  const { promise, resolve } = Promise.withResolvers<string | number>()
  client.unary(Buffer.from(text), new Metadata(), {}, (error, answer) =>
    resolve(error?.code ?? String(answer)),
  )
  return promise
}

test('messages larger than any window pass', async t => {
  const { client } = await start(t)
  const large = 'abc'.repeat(1_200_000)
  assert.equal(await unary(client, large), large)
})

test('a thousand calls at a time share a connection on either side', async t => {
  const { client, edge } = await start(t)
  const answers = await Promise.all(Array.from({ length: 1_000 }, (_, i) => unary(client, `call ${i}`)))
  assert.deepEqual(
    answers,
    Array.from({ length: 1_000 }, (_, i) => `call ${i}`),
  )
  assert.deepEqual([edge.metrics.originConnections.value, edge.metrics.clientConnections.value], [1, 1])
  await turnsUntil(() => edge.metrics.originStreams.value === 0)
})

test('a server that dies in the middle of a stream fails that call visibly, and the next one finds another connection', async t => {
  const { client, edge, between } = await start(t)
  const spread = client.spread(Buffer.from(''))
  const failed = Promise.withResolvers<ServiceError>()
  spread.on('error', (error: ServiceError) => failed.resolve(error))
  let messages = 0
  spread.on('data', () => messages++)
  await turnsUntil(() => messages === 100)
  between.sockets[0]!.resetAndDestroy()
  const { code, details } = await failed.promise
  assert.equal(code, status.UNAVAILABLE)
  assert.match(details, /origin|server|site/i)
  assert.equal(await unary(client, 'on'), 'on')
  assert.equal(edge.metrics.originConnections.value, 1)
})

test('a call that is cancelled leaves the others of its connection alone', async t => {
  const { client, edge } = await start(t)
  const both = client.both()
  both.write(Buffer.from('a'))
  assert.equal(String((await once(both, 'data'))[0]), 'a')
  const spread = client.spread(Buffer.from(''))
  spread.on('error', () => {})
  await once(spread, 'data')
  spread.cancel()
  await turnsUntil(() => edge.metrics.originStreams.value === 1)
  both.write(Buffer.from('b'))
  assert.equal(String((await once(both, 'data'))[0]), 'b')
  both.end()
  assert.equal((await once(both, 'status'))[0].code, status.OK)
})
