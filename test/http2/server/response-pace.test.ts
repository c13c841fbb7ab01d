import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResponsePace } from '../../../src/http2/server/response-pace.ts'
import { Stream } from '../../../src/http2/server/stream.ts'

/** Makes a stream of which so many bytes wait, for its own window or for that of the connection. */
function waitingFor(window: 'own' | 'connection', bytes = 100): Stream<null> {
  const stream = new Stream<null>(1, true, 0, window === 'own' ? 0 : 1)
  if (bytes > 0) stream.queue(Buffer.alloc(bytes))
  return stream
}

/** Looks once a second for so many seconds while these bytes are sent; returns the last fault, and after how many. */
function looks(stream: Stream<null>, seconds: number, rate: number, sentOfAll = 0, sentOfStream = 0) {
  const pace = new ResponsePace(0)
  for (let i = 1; i <= seconds; i++) {
    stream.sentSince = sentOfStream
    pace.look(i * 1_000, sentOfAll, false)
    const fault = pace.faultOf(stream, rate)
    if (fault !== null) return [fault, i]
  }
  return null
}

test('a stream is slow once it has waited for a minute more than its bytes make up for', () => {
  assert.equal(looks(waitingFor('own'), 59, 100), null)
  assert.deepEqual(looks(waitingFor('own'), 100, 100), ['slow', 60])
  assert.deepEqual(looks(waitingFor('own'), 200, 100, 0, 50), ['slow', 120])
  assert.equal(looks(waitingFor('own'), 1_000, 100, 0, 100), null)
  assert.equal(looks(waitingFor('own'), 1_000, 0), null)
})

test('what others send counts for a stream that waits for the window of all, and for no other', () => {
  assert.equal(looks(waitingFor('connection'), 1_000, 100, 100), null)
  assert.deepEqual(looks(waitingFor('own'), 1_000, 100, 100), ['slow', 60])
})

test('a stream cannot earn more than it has waited', () => {
  const stream = waitingFor('own')
  assert.equal(looks(stream, 10, 100, 0, 1_000_000), null)
  assert.deepEqual([stream.waited, stream.earned], [10_000, 10_000])
})

test('a stream of which nothing waits begins anew', () => {
  const stream = waitingFor('own')
  looks(stream, 50, 100, 0, 10)
  stream.unqueue(100)
  assert.equal(looks(stream, 1, 100, 0, 5), null)
  assert.deepEqual([stream.waited, stream.earned, stream.sentSince], [0, 0, 0])
})

test('what a stream has waited counts once there is a rate', () => {
  const stream = waitingFor('own')
  assert.equal(looks(stream, 10, 0), null)
  assert.deepEqual(looks(stream, 100, 100), ['slow', 50])
})

test('a look that comes late counts as a second and a half', () => {
  const stream = waitingFor('own')
  const pace = new ResponsePace(1_000)
  pace.look(2_400, 0, false)
  pace.faultOf(stream, 0)
  assert.equal(stream.waited, 1_400)
  pace.look(90_000, 0, false)
  pace.faultOf(stream, 0)
  assert.equal(stream.waited, 2_900)
})

test('where the client is overdrawn, a stream must send something from its second look on', () => {
  const stream = waitingFor('own')
  const pace = new ResponsePace(0)
  const faults = [0, 1, 0].map((sent, i) => {
    stream.sentSince = sent
    pace.look((i + 1) * 1_000, 0, true)
    return pace.faultOf(stream, 0)
  })
  assert.deepEqual(faults, [null, null, 'overdrawn'])
  pace.look(4_000, 0, false)
  assert.equal(pace.faultOf(stream, 0), null)
})
