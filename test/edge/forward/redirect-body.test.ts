import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { RedirectBody } from '../../../src/edge/forward/redirect-body.ts'
import type { Lease } from '../../../src/edge/origin/lease.ts'
import { fault } from '../../../src/errors/catalogue/origin-failure.ts'
import { BodyReader } from '../../../src/http1/body/body.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

/** What becomes of the connection of a redirect, and of the request, in order. */
function start(t: TestContext) {
  const steps = stepsOver(t, ['http://127.0.0.1:9'], { timeouts: { idle: 5_000 } })
  const events: string[] = []
  const note = (what: string) => () => void events.push(what)
  const lease = {
    handler: null,
    destroy: note('destroy'),
    giveBack: note('give back'),
    resume: note('resume'),
  }
  const x = steps.located(request('GET /'))
  t.mock.method(x.member!.health, 'succeeded', note('succeeded'))
  const body = new RedirectBody(x, { redirectRead: note('follow') }, lease as unknown as Lease)
  assert.equal(lease.handler, body)
  return { body, events, plane: steps.plane }
}

test('a body that comes whole leaves its connection to others, and the request goes on', t => {
  const { body, events } = start(t)
  body.read(new BodyReader('length', 65_536))
  for (let i = 0; i < 64; i++) body.data(Buffer.alloc(1024))
  assert.deepEqual(events, [])
  body.end()
  assert.deepEqual(events, ['succeeded', 'give back', 'follow'])
})

test('one that is longer costs its connection', t => {
  const { body, events } = start(t)
  body.read(new BodyReader('chunked', 0))
  body.data(Buffer.alloc(65_536))
  body.data(Buffer.alloc(1))
  assert.deepEqual(events, ['succeeded', 'destroy', 'follow'])
})

test('one that only the end of its connection would end is not read', t => {
  const { body, events } = start(t)
  body.read(new BodyReader('close', 0))
  assert.deepEqual(events, ['succeeded', 'destroy', 'follow'])
})

test('one that breaks off or takes too long does not keep the request from going on', t => {
  const broken = start(t)
  broken.body.failed('receive', fault('GH_CLOSED'))
  assert.deepEqual(broken.events, ['follow'])
  const late = start(t)
  assert.equal(late.body.deadline, late.plane.coarseNow + 5_000)
  late.body.expire()
  assert.deepEqual(late.events, ['destroy', 'follow'])
})
