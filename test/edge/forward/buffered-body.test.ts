import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BufferedBody } from '../../../src/edge/forward/buffered-body.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

/** A body that is gathered, fed as its client sends it, and what its owner hears. */
function start(t: TestContext, ...fields: string[]) {
  const steps = stepsOver(t, ['http://127.0.0.1:9'])
  const x = steps.located(request('POST /', ...fields))
  const events: string[] = []
  const owner = {
    bodyReady: () => void events.push(`set out with ${body.isWhole ? 'all' : 'part'}`),
    abort: () => void events.push('abort'),
    endOverdueCall: () => false,
  }
  const body: BufferedBody = new BufferedBody(x, owner, null)
  /** Feeds what the body is sent as, chunks included. */
  const feed = (text: string) => {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; ) {
      at = x.requestBody.next(bytes, at)
      const { from, to } = x.requestBody
      if (to > from) body.body(bytes.subarray(from, to))
    }
    if (x.requestBody.done) body.bodyEnd()
  }
  return { x, body, events, feed, plane: steps.plane }
}

const large = 'x'.repeat(65_537)

test('the client is invited to send its body, and the body hears of it', t => {
  const { x, body } = start(t, 'Content-Length: 4', 'Expect: 100-continue')
  body.gather()
  assert.equal(x.handler, body)
  assert.deepEqual([x.seen.written, x.seen.asked], ['HTTP/1.1 100 Continue\r\n\r\n', ['readBody']])
})

test('a small body sets out whole, in one piece or in several', t => {
  const one = start(t, 'Content-Length: 4')
  one.feed('abcd')
  assert.deepEqual([one.events, one.body.bytes?.toString()], [['set out with all'], 'abcd'])
  const several = start(t, 'Content-Length: 4')
  several.feed('ab')
  assert.deepEqual(several.events, [])
  several.feed('cd')
  assert.deepEqual([several.events, several.body.bytes?.toString()], [['set out with all'], 'abcd'])
  several.body.forget()
  assert.equal(several.body.bytes, null)
})

test('a large body sets out with its beginning, while the client waits', t => {
  const { x, body, events, feed } = start(t, 'Content-Length: 100000')
  feed('x'.repeat(65_536))
  assert.deepEqual([events, x.seen.asked], [[], []])
  feed('x')
  assert.deepEqual([events, x.seen.asked], [['set out with part'], ['pauseBody']])
  assert.equal(body.bytes?.length, 65_537)
})

test('a large body that ends with the piece that makes it large is not kept either', t => {
  const { events, feed } = start(t, 'Content-Length: 65538')
  feed('x')
  feed(large)
  assert.deepEqual(events, ['set out with part'])
})

test('a client that pauses in a body without a length may wait for a response to its beginning, where there is room', t => {
  const { x, body, events, feed, plane } = start(t, 'Transfer-Encoding: chunked')
  assert.equal(body.deadline, Number.POSITIVE_INFINITY)
  feed('2\r\nab\r\n')
  assert.equal(body.deadline, plane.coarseNow + 500)
  const room = t.mock.getter(x.origin!, 'hasRoomForPause', () => false)
  plane.coarseNow += 500
  body.expire()
  assert.deepEqual([events, body.deadline], [[], plane.coarseNow + 500])
  room.mock.restore()
  t.mock.getter(x.origin!, 'hasRoomForPause', () => true)
  body.expire()
  assert.deepEqual(events, ['set out with part'])
})

test('a client that pauses in a body of known length is waited for', t => {
  const { body, feed } = start(t, 'Content-Length: 4')
  feed('ab')
  assert.equal(body.deadline, Number.POSITIVE_INFINITY)
})

test('a client that leaves ends it all', t => {
  const { body, events } = start(t, 'Content-Length: 4')
  body.abort()
  assert.deepEqual(events, ['abort'])
})
