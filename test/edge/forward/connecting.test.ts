import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Connecting } from '../../../src/edge/forward/connecting.ts'
import type { KeptBody } from '../../../src/edge/forward/buffered-body.ts'
import type { DialPhase } from '../../../src/edge/origin/dial/dial.ts'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { type Failure, failureOf, fault } from '../../../src/errors/catalogue/origin-failure.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const times = { resolve: 1, connect: -1, handshake: -1 }

/** Notes what is decided. */
class Noting extends Connecting {
  readonly events: string[] = []

  connected(): void {}

  protected lost(phase: DialPhase, { cause }: Failure, isRepeatable: boolean): void {
    this.events.push(`lost in ${phase}: ${cause.code} ${isRepeatable ? 'another may be asked' : 'for good'}`)
  }

  protected connect(fresh: boolean): void {
    this.events.push(`again${fresh ? ', fresh' : ''}`)
  }

  override ask(fresh: boolean, body: KeptBody | null): void {
    super.ask(fresh, body)
  }

  override endUpload(): void {
    super.endUpload()
  }

  override waitNoLonger(): void {
    super.waitNoLonger()
  }

  get until(): number {
    return this.waitDeadline
  }
}

/** Asks for a connection of an origin that only notes that it is asked. */
function start(t: TestContext, text = request('GET /')) {
  const x: Exchange = stepsOver(t, ['http://127.0.0.1:9'], { timeouts: { connect: 5_000 } }).located(text)
  const asked: string[] = []
  const note = (what: string) => () => void asked.push(what)
  t.mock.method(x.origin!, 'acquire', (_: unknown, { fresh }: { fresh: boolean }) => {
    asked.push(fresh ? 'a fresh one' : 'any')
  })
  t.mock.method(x.origin!, 'acquireForUpload', note('one for an upload'))
  t.mock.method(x.origin!, 'endUpload', note('upload ended'))
  t.mock.method(x.origin!, 'forget', note('forgotten'))
  return { x, asked, connecting: new Noting(x) }
}

const part = { isWhole: false } as KeptBody

test('a connection is waited for as long as that may take', t => {
  const { x, asked, connecting } = start(t)
  connecting.ask(false, null)
  connecting.ask(true, null)
  assert.deepEqual(asked, ['any', 'a fresh one'])
  assert.equal(connecting.until, x.plane.coarseNow + 5_500)
  connecting.waitNoLonger()
  assert.deepEqual(asked.slice(2), ['forgotten'])
})

test('a request whose body still comes takes the place of an upload, and gives it back once', t => {
  const { asked, connecting } = start(t, request('POST /', 'Content-Length: 4'))
  connecting.ask(false, part)
  assert.deepEqual(asked, ['one for an upload'])
  connecting.endUpload()
  connecting.endUpload()
  connecting.waitNoLonger()
  assert.deepEqual(asked.slice(1), ['upload ended', 'forgotten'])
  const whole = start(t)
  whole.connecting.ask(false, part)
  assert.deepEqual(whole.asked, ['any'], 'its body is there by now')
})

test('a failure ends the upload and is told with its times, and who has waited in a queue waits in no other', t => {
  const { x, asked, connecting } = start(t, request('POST /', 'Content-Length: 4'))
  connecting.ask(false, part)
  connecting.unconnected('connect', failureOf({ message: '', code: 'ECONNREFUSED' } as never), times)
  connecting.unconnected('connect', fault('GH_QUEUE_TIMEOUT'), times)
  assert.deepEqual(asked.slice(1), ['upload ended'])
  assert.equal(x.openingTimes, times)
  assert.deepEqual(connecting.events, [
    'lost in connect: ECONNREFUSED another may be asked',
    'lost in connect: GH_QUEUE_TIMEOUT for good',
  ])
})

test('a look-up without a response is made once more, as it was, and no more than that', t => {
  const { connecting } = start(t)
  const unanswered = failureOf({ message: '', code: 'EAI_AGAIN' } as never)
  connecting.ask(true, null)
  connecting.unconnected('resolve', unanswered, times)
  connecting.unconnected('resolve', unanswered, times)
  assert.deepEqual(connecting.events, ['again, fresh', 'lost in resolve: EAI_AGAIN another may be asked'])
})
