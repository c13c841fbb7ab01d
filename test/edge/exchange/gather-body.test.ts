import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AiExchange } from '../../../src/edge/ai-call/ai-exchange.ts'
import { releaseBody, gatherBody } from '../../../src/edge/exchange/gather-body.ts'
import { parseAiTarget } from '../../../src/ai/target.ts'
import { type Staged, type Steps, stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const path = `/client/v4/accounts/${'0'.repeat(32)}/ai/v1/chat/completions`

/** Makes an AI call whose body is yet to come. */
function callOf(steps: Steps, ...fields: string[]) {
  const x = steps.exchange(request(`POST ${path}`, ...fields))
  const ai = new AiExchange(parseAiTarget(path)!, x.head, x.client.last)
  x.ai = ai
  return { x, ai, seen: x.seen }
}

/** Receives bytes as the client's connection does. */
function receive(x: Staged, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length && !x.requestBody.done; ) {
    at = x.requestBody.next(bytes, at)
    const { from, to } = x.requestBody
    if (to > from) x.handler?.body(bytes.subarray(from, to))
  }
  if (x.requestBody.done) x.handler?.bodyEnd()
}

function start(t: TestContext) {
  return stepsOver(t, [])
}

test('a body is read completely, in one piece or many, and uses its room until it is released', async t => {
  const steps = start(t)
  for (const pieces of [['hello'], ['he', 'l', 'lo']]) {
    const { x, ai, seen } = callOf(steps, 'Content-Length: 5')
    const gathering = gatherBody(x) as Promise<Buffer>
    assert.deepEqual(seen.asked, ['readBody'])
    for (const piece of pieces) receive(x, piece)
    assert.equal((await gathering).toString(), 'hello')
    assert.deepEqual([steps.plane.metrics.ai.bodyBytes.value, x.handler], [5, null])
    releaseBody(x, ai)
    releaseBody(x, ai)
    assert.equal(steps.plane.metrics.ai.bodyBytes.value, 0)
  }
  const { x } = callOf(steps)
  assert.equal((await (gatherBody(x) as Promise<Buffer>)).length, 0)
})

test('a client that waits gets 100 Continue for its body', t => {
  const { x, seen } = callOf(start(t), 'Content-Length: 5', 'Expect: 100-continue')
  void gatherBody(x)
  assert.equal(seen.written, 'HTTP/1.1 100 Continue\r\n\r\n')
})

test('a body without room is refused, announced or as it arrives', t => {
  const steps = start(t)
  steps.plane.metrics.ai.bodyBytes.value = steps.plane.snapshot.gatherLimit - 4
  const announced = gatherBody(callOf(steps, 'Content-Length: 5').x)
  assert.equal('error' in announced && announced.error, 'service_unavailable')
  assert.ok(gatherBody(callOf(steps, 'Content-Length: 4').x) instanceof Promise)
  const { x, seen } = callOf(steps, 'Transfer-Encoding: chunked')
  void gatherBody(x)
  receive(x, '5\r\nhello\r\n')
  assert.equal(x.refusal?.error, 'service_unavailable')
  assert.deepEqual(x.refusal?.cause, { code: 'GH_BODY_MEMORY' })
  assert.equal(steps.plane.metrics.ai.callsWithoutRoom.value, 1)
  assert.match(seen.written, /^HTTP\/1\.1 503 /)
  assert.deepEqual(seen.asked, ['readBody', 'finish'])
  assert.equal(x.keepAlive, false)
})

test('a body that is incomplete after five minutes is 408', t => {
  const steps = start(t)
  const { x, seen } = callOf(steps, 'Content-Length: 5')
  void gatherBody(x)
  assert.equal(x.handler!.deadline, steps.plane.coarseNow + 300_000)
  receive(x, 'he')
  x.handler!.expire()
  assert.match(seen.written, /^HTTP\/1\.1 408 /)
  assert.equal(x.keepAlive, false)
})

test('a chunked body may be empty', async t => {
  const { x } = callOf(start(t), 'Transfer-Encoding: chunked')
  const body = gatherBody(x)
  receive(x, '0\r\n\r\n')
  assert.deepEqual(await body, Buffer.alloc(0))
})
