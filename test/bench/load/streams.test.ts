// The client of event streams, before a server that sends what each test says.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { EVENTS } from '../../../bench/load/call.ts'
import { EventStream } from '../../../bench/load/streams.ts'

const LAST_CHUNK = '0\r\n\r\n'

test('an event that is cut anywhere is counted once', async t => {
  const { stream, server } = await open(t)
  server.write('data: 1\n\nda')
  await stream.firstEvent
  server.write(`ta: 2\n\ndata: 3\n\n${LAST_CHUNK}`)
  await stream.ended
  assert.equal(stream.events, 3)
})

test('a stream is whole, and closed, when its last chunk has come', async t => {
  const { stream, server } = await open(t)
  server.write('data: 1\n\n')
  await stream.firstEvent
  assert.deepEqual([stream.isWhole, stream.open], [false, true])
  server.write(LAST_CHUNK)
  await stream.ended
  assert.deepEqual([stream.isWhole, stream.open], [true, false])
})

test('a stream that is cut is not whole', async t => {
  const { stream, server } = await open(t)
  server.end('data: 1\n\n')
  await stream.ended
  assert.equal(stream.isWhole, false)
})

test('the longest pause is the one between the two events that were furthest apart', async t => {
  const { stream, server } = await open(t)
  server.write('data: 1\n\n')
  await stream.firstEvent
  await wait(50)
  server.write('data: 2\n\n')
  await wait(20)
  server.write(`data: 3\n\n${LAST_CHUNK}`)
  await stream.ended
  assert.ok(stream.longestPause >= 40, String(stream.longestPause))
})

test('a response without events is identified by its status', async t => {
  const { stream, server } = await open(t)
  server.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
  await assert.rejects(stream.firstEvent, /before its first event: HTTP\/1.1 401 Unauthorized$/)
})

async function open(t: TestContext): Promise<{ stream: EventStream; server: Socket }> {
  const listener = createServer().listen(0, '127.0.0.1')
  t.after(() => listener.close())
  await once(listener, 'listening')
  const accepted = once(listener, 'connection')
  const stream = new EventStream((listener.address() as AddressInfo).port, EVENTS)
  t.after(() => stream.close())
  const [server] = await accepted
  t.after(() => server.destroy())
  return { stream, server }
}
