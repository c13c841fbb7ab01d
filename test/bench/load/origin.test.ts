// The origin of the bench and its client of event streams, over real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { chatAt, EVENTS, PROVIDER_DOOR } from '../../../bench/load/call.ts'
import { createOrigin } from '../../../bench/load/origin.ts'
import {
  countEvents,
  EventStream,
  openStreams,
  timeFirstEvents,
  warmUpStreams,
} from '../../../bench/load/streams.ts'

test('a GET of the root returns 244 bytes of JSON', async t => {
  const client = await dial(await listen(t))
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const { head, body } = await readAnswer(client)
  assert.match(head, /^HTTP\/1.1 200 /)
  assert.equal(body.length, 244)
  assert.doesNotThrow(() => JSON.parse(body.toString()))
})

test('a POST gets its response when its whole body has arrived, however it is cut', async t => {
  const port = await listen(t)
  const client = await dial(port)
  for (const piece of ['POST / HTTP/1.1\r\ncontent-', 'length: 6\r\n\r\nab', 'cd']) {
    client.write(piece)
    await roundTrip(port)
  }
  assert.equal(client.bytesRead, 0)
  client.write('ef')
  assert.match((await readAnswer(client)).head, /^HTTP\/1.1 200 /)
})

test('one connection serves one request after another', async t => {
  const client = await dial(await listen(t))
  client.write('POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}')
  assert.match((await readAnswer(client)).head, /^HTTP\/1.1 200 /)
  client.write('GET /missing HTTP/1.1\r\n\r\n')
  assert.match((await readAnswer(client)).head, /^HTTP\/1.1 404 /)
  client.write('GET /mebibyte HTTP/1.1\r\n\r\n')
  assert.equal((await readAnswer(client)).body.length, 2 ** 20)
})

test('an event stream goes on', async t => {
  const client = await dial(await listen(t))
  client.write('GET /events HTTP/1.1\r\n\r\n')
  let events = 0
  while (events < 3) events += countEvents((await once(client, 'data'))[0])
})

test('opened streams have had their first event and stay open', async t => {
  const streams = await openStreams(await listen(t), 3, EVENTS)
  assert.deepEqual(
    streams.map(stream => stream.open && stream.events > 0),
    [true, true, true],
  )
})

test('the time to the first event is taken for each stream', async t => {
  const times = await timeFirstEvents(await listen(t), 4, EVENTS, false)
  assert.equal(times.length, 4)
  assert.ok(times.every(time => time > 0))
})

test('a chat that is timed is read to its end', async t => {
  const times = await timeFirstEvents(await listen(t), 2, chatAt(PROVIDER_DOOR, 'own', 2), true)
  assert.ok(times.every(time => time > 0 && time < 20_000))
})

test('a warm-up begins as many streams as it is told', async t => {
  const sockets = new Set<Socket>()
  await warmUpStreams(await listen(t, sockets), chatAt(PROVIDER_DOOR, 'own', 1), true, 120)
  assert.equal(sockets.size, 120)
})

test('a stream that ends before its first event is an error', async t => {
  const stream = new EventStream(await listen(t), EVENTS)
  stream.close()
  await assert.rejects(stream.firstEvent, /ended before its first event/)
})

test('events are counted by their data fields', () => {
  assert.equal(countEvents(Buffer.from('data: 1\n\ndata: 2\n\n')), 2)
  assert.equal(countEvents(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')), 0)
})

async function listen(t: TestContext, sockets = new Set<Socket>()): Promise<number> {
  const origin = createOrigin().listen(0, '127.0.0.1')
  origin.on('connection', socket => sockets.add(socket))
  t.after(() => {
    origin.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(origin, 'listening')
  return (origin.address() as AddressInfo).port
}

async function dial(port: number): Promise<Socket> {
  const client = connect(port, '127.0.0.1')
  await once(client, 'connect')
  return client
}

async function roundTrip(port: number): Promise<void> {
  const client = await dial(port)
  client.write('GET / HTTP/1.1\r\n\r\n')
  await readAnswer(client)
  client.destroy()
}

async function readAnswer(client: Socket): Promise<{ head: string; body: Buffer }> {
  let bytes = Buffer.alloc(0)
  while (true) {
    const [chunk] = await once(client, 'data')
    bytes = Buffer.concat([bytes, chunk])
    const end = bytes.indexOf('\r\n\r\n')
    const head = bytes.toString('latin1', 0, end)
    const body = bytes.subarray(end + 4)
    if (end > 0 && body.length >= Number(/Content-Length: (\d+)/.exec(head)?.[1])) return { head, body }
  }
}
