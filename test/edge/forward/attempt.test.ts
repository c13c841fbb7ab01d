import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Attempt } from '../../../src/edge/forward/attempt.ts'
import type { AttemptEvent } from '../../../src/edge/forward/decide.ts'
import type { BufferedBody } from '../../../src/edge/forward/buffered-body.ts'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { failureOf } from '../../../src/errors/catalogue/origin-failure.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const part = { isWhole: false } as BufferedBody

/** Makes attempts at an origin that only notes what it is asked. */
function start(t: TestContext, text = request('GET /')) {
  const x: Exchange = stepsOver(t, ['http://127.0.0.1:9'], { timeouts: { connect: 5_000 } }).located(text)
  const asked: string[] = []
  const note = (what: string) => () => void asked.push(what)
  t.mock.method(x.origin!, 'acquire', (_: unknown, { fresh }: { fresh: boolean }) => {
    asked.push(fresh ? 'a fresh one' : 'any')
  })
  t.mock.method(x.origin!, 'acquireForUpload', note('one for an upload'))
  t.mock.method(x.origin!, 'endUpload', note('upload ended'))
  t.mock.method(x.origin!, 'cancel', note('forgotten'))
  const events: AttemptEvent[] = []
  const owner = {
    isHttp1Required: false,
    report: (event: AttemptEvent) => void events.push(event),
    begun: () => {},
    contentBegan: () => {},
  }
  return {
    x,
    asked,
    events,
    attempt: (body: BufferedBody | null, isFresh = false) => new Attempt(x, owner, body, isFresh),
  }
}

test('a connection is waited for as long as that may take', t => {
  const { x, asked, events, attempt } = start(t)
  attempt(null).start()
  const fresh = attempt(null, true)
  fresh.start()
  assert.deepEqual(asked, ['any', 'a fresh one'])
  assert.equal(fresh.deadline, x.plane.coarseNow + 5_500)
  assert.equal(fresh.stage, 'connecting')
  fresh.expire()
  assert.partialDeepStrictEqual(events, [
    { type: 'failure', phase: 'connect', failure: { way: 'GH_CONNECT_TIMEOUT' } },
  ])
  fresh.release()
  assert.deepEqual(asked.slice(2), ['forgotten'])
})

test('a request whose body still comes takes the place of an upload, and gives it back once', t => {
  const { asked, attempt } = start(t, request('POST /', 'Content-Length: 4'))
  const upload = attempt(part)
  upload.start()
  assert.deepEqual(asked, ['one for an upload'])
  upload.endUpload()
  upload.release()
  assert.deepEqual(asked.slice(1), ['upload ended', 'forgotten'])
  const whole = start(t)
  whole.attempt(part).start()
  assert.deepEqual(whole.asked, ['any'], 'its body is there by now')
})

test('a failure to connect is reported with its times', t => {
  const { x, events, attempt } = start(t)
  const times = { resolve: 1, connect: -1, handshake: -1 }
  const failure = failureOf({ code: 'ECONNREFUSED' })
  attempt(null).failed('connect', failure, times)
  assert.equal(x.openingTimes, times)
  assert.deepEqual(events, [{ type: 'failure', phase: 'connect', failure }])
})
