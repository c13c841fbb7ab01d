// WebSockets through the edge, with a real client and a real origin, and by hand where bytes matter.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws'
import { type Edge, type EdgeSettings, recordOf, startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { request, type Wire } from '../help/raw.ts'

const MiB = 1024 * 1024
const handshake = (...fields: string[]) =>
  request(
    'GET /socket?a=1',
    'Connection: keep-alive, Upgrade',
    'Upgrade: WebSocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...fields,
  )
const switched =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'

/** Starts a WebSocket origin that sends everything back, and an edge before it. */
async function startEcho(t: TestContext, settings: EdgeSettings = {}) {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    handleProtocols: protocols => [...protocols].at(-1)!,
  })
  t.after(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  await once(server, 'listening')
  server.on('connection', socket =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  )
  const edge = await startEdge(t, [`http://127.0.0.1:${(server.address() as AddressInfo).port}`], settings)
  return { server, edge }
}

function open(t: TestContext, edge: Edge, protocols: string[] = [], options: ClientOptions = {}): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/socket?a=1`, protocols, {
    ...options,
    headers: { Host: 'site.test', ...options.headers },
  })
  // Awaited events reject with it anyway.
  socket.on('error', () => {})
  t.after(() => socket.terminate())
  return socket
}

async function echo(socket: WebSocket, data: string | Buffer): Promise<Buffer> {
  socket.send(data)
  const [message] = await once(socket, 'message')
  return message
}

test('text, binary and large messages come back as they were sent', async t => {
  const { edge } = await startEcho(t)
  const socket = open(t, edge)
  await once(socket, 'open')
  assert.equal((await echo(socket, 'h\u00e9llo')).toString(), 'h\u00e9llo')
  for (const length of [0, 125, 126, 65_536, 4 * MiB]) {
    const data = Buffer.alloc(length, length % 251)
    assert.deepEqual(await echo(socket, data), data)
  }
  assert.equal(edge.metrics.webSockets.value, 1)
})

test('pings are answered by the other end', async t => {
  const { server, edge } = await startEcho(t)
  const socket = open(t, edge)
  await once(socket, 'open')
  socket.ping('from the client')
  assert.equal(String((await once(socket, 'pong'))[0]), 'from the client')
  const [peer] = server.clients
  peer!.ping('from the origin')
  assert.equal(String((await once(peer!, 'pong'))[0]), 'from the origin')
})

test('the origin chooses the subprotocol, and sees the hops', async t => {
  const { server, edge } = await startEcho(t)
  const socket = open(t, edge, ['one', 'two'], { perMessageDeflate: true })
  const [[, message]] = (await Promise.all([once(server, 'connection'), once(socket, 'open')])) as [
    [WebSocket, IncomingMessage],
    unknown,
  ]
  assert.equal(socket.protocol, 'two')
  assert.equal(message.url, '/socket?a=1')
  assert.equal(message.headers['x-forwarded-for'], '127.0.0.1')
  assert.equal(message.headers['cdn-loop'], 'gatehouse')
  assert.match(String(message.headers['svc-ray']), /^[0-9a-f]{16}$/)
})

test('close codes pass both ways', async t => {
  const { server, edge } = await startEcho(t)
  const first = open(t, edge)
  await once(first, 'open')
  const [peer] = server.clients
  const closed = once(peer!, 'close')
  first.close(4001, 'bye')
  const [code, reason] = await closed
  assert.deepEqual([code, String(reason)], [4001, 'bye'])
  const second = open(t, edge)
  await once(second, 'open')
  const [other] = server.clients
  other!.close(4002, 'go')
  const [code2, reason2] = await once(second, 'close')
  assert.deepEqual([code2, String(reason2)], [4002, 'go'])
})

test('a client that leaves closes the origin, an origin that dies closes the client', async t => {
  const { server, edge } = await startEcho(t)
  for (const end of ['client', 'origin'] as const) {
    const socket = open(t, edge)
    await once(socket, 'open')
    const [peer] = server.clients
    const [gone, left] = end === 'client' ? [socket, peer!] : [peer!, socket]
    const closed = once(left, 'close')
    gone.terminate()
    assert.equal((await closed)[0], 1006)
  }
  assert.equal(edge.metrics.webSockets.value, 0)
  assert.deepEqual(
    edge.accesses.map(({ status }) => status),
    [101, 101],
  )
})

test('a socket on which nothing moves either way is closed after the idle limit, and not before', async t => {
  const { server, edge } = await startEcho(t, { timeouts: { idle: 1_000, response: 600, total: 800 } })
  const socket = open(t, edge)
  await once(socket, 'open')
  const [peer] = server.clients
  for (const [from, to] of [
    [socket, peer!],
    [peer!, socket],
  ] as const) {
    for (let i = 0; i < 5; i++) {
      // A pong that nobody asked for is not answered.
      from.pong()
      await once(to, 'pong')
      await wait(250)
    }
  }
  const [code] = await once(socket, 'close')
  assert.equal(code, 1006)
})

test("an upgrade that the origin refuses gets the origin's response", async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 403 Not You\r\nX-Own: 1\r\nContent-Length: 4\r\n\r\nno.\n')
  })
  const edge = await startEdge(t, [origin.url])
  const [, response] = (await once(open(t, edge), 'unexpected-response')) as [unknown, IncomingMessage]
  assert.deepEqual([response.statusCode, response.headers['x-own']], [403, '1'])
  response.resume()
})

test('an upgrade to a dead origin is refused with the record', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const answer = await edge.ask(handshake('Accept: application/json'))
  assert.equal(recordOf(answer).error_code, 521)
})

test('an origin that switches to a protocol that was not requested is 502', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(switched.replace('websocket', 'h2c'))
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const answer = await edge.ask(handshake('Accept: application/json'))
  assert.equal(recordOf(answer).error_code, 502)
})

test('bytes right after the handshake are not lost, in either direction', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(`${switched}from the origin`)
    await wire.until('from the client')
    await wire.send(', heard')
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(`${handshake()}from the client`)
  const answer = await client.head()
  assert.equal(answer.startLine, 'HTTP/1.1 101 Switching Protocols')
  assert.equal(answer.field('upgrade'), 'websocket')
  assert.equal(answer.field('connection'), 'Upgrade')
  assert.equal(answer.field('sec-websocket-accept'), 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  assert.match(answer.field('svc-ray')!, /^[0-9a-f]{16}$/)
  await client.until('from the origin, heard')
})

test('the end of one half reaches the other side while the other half goes on', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(switched)
    await wire.ending
    await wire.send('last words')
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(handshake())
  await client.head()
  client.finish()
  assert.equal(await client.rest(), 'last words')
})

test('a request inside a WebSocket is passed on as bytes', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(switched)
    await wire.until('Host: site.test\r\n\r\n')
    await wire.send('bytes')
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(handshake())
  await client.head()
  await client.send(request('GET /smuggled'))
  await client.until('bytes')
  client.leave()
  await (await origin.wire()).ending
  assert.equal(origin.wires.length, 1)
})

test('a client that does not read stops the origin of its socket', async t => {
  const { promise: poured, resolve } = Promise.withResolvers<number>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(switched)
    resolve(await wire.pour())
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(handshake())
  await client.head()
  client.socket.pause()
  const length = await poured
  assert.ok(length < 64 * MiB, `the origin could send ${length} bytes`)
  client.socket.resume()
  await client.bytes(length)
})

test('an origin that does not read stops the client of its socket', async t => {
  const { promise: isOpen, resolve } = Promise.withResolvers<Wire>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(switched)
    wire.socket.pause()
    resolve(wire)
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(handshake())
  await client.head()
  const wire = await isOpen
  const length = await client.pour()
  assert.ok(length < 64 * MiB, `the client could send ${length} bytes`)
  wire.socket.resume()
  await wire.bytes(length)
})

test('an HTTP/1.0 client cannot request a WebSocket, and its request is like any other', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url])
  assert.equal((await edge.ask(handshake().replace('HTTP/1.1', 'HTTP/1.0'))).text, 'hi')
  assert.equal(origin.requests[0]!.field('upgrade') ?? origin.requests[0]!.field('connection'), null)
})
