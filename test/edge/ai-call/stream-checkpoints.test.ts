import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamCheckpoints } from '../../../src/edge/ai-call/stream-checkpoints.ts'
import { Tap } from '../../../src/edge/ai-call/tap.ts'
import { ManualClock } from '../../help/clock.ts'
import { answerHead } from '../../help/exchange.ts'

const head = answerHead('HTTP/1.1 200 OK', 'Content-Type: text/event-stream')
const words = (text: string) =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`)

/** A stream that began 2 s after its call was sent, and what its budget hears. */
function streamed() {
  const clock = new ManualClock(10_000)
  const tap = new Tap({ keepsPayloads: false, isEncoded: false })
  tap.noteHead(head, false)
  const heard: number[] = []
  const budget = {
    checkpoint: (tokens: number) => void heard.push(tokens),
    onEnd: null as (() => void) | null,
  }
  const checkpoints = new StreamCheckpoints()
  checkpoints.add(budget, tap, clock.monotonic() - 2_000, clock.monotonic())
  const look = (ms: number) => {
    clock.advance(ms)
    checkpoints.look(clock.monotonic())
  }
  return { heard, budget, look, send: (text: string) => tap.noteResponse(words(text), clock) }
}

test('a stream that is silent may think: a quarter of a token for each ms, and for five seconds more', () => {
  const { heard, look } = streamed()
  look(1_000)
  look(1_000)
  assert.deepEqual(heard, [(3_000 + 5_000) / 4, (4_000 + 5_000) / 4])
})

test('it looks once a second, until the budget is settled', () => {
  const { heard, budget, look } = streamed()
  for (let i = 0; i < 30; i++) look(100)
  assert.equal(heard.length, 3)
  budget.onEnd!()
  look(2_000)
  assert.equal(heard.length, 3)
})

test('of a fast stream, its text counts at two bytes a token, and as fast as so far for five seconds more', () => {
  const { heard, look, send } = streamed()
  send('x'.repeat(10_000))
  look(1_000)
  assert.equal(heard[0], 5_000 * 6)
  for (let i = 0; i < 9; i++) {
    send('x'.repeat(10_000))
    look(1_000)
  }
  assert.ok(Math.abs(heard.at(-1)! - 50_000 * 1.5) <= 1, `${heard.at(-1)}`)
})

test('a long stream is measured by its beginning', () => {
  const { heard, look, send } = streamed()
  for (let i = 0; i < 1_000; i++) send('x'.repeat(1_000))
  look(1_000)
  for (let i = 0; i < 1_000; i++) send('x'.repeat(1_000))
  look(4_000)
  const [first, second] = heard as [number, number]
  assert.ok(Math.abs(first / (500_000 * 6) - 1) < 0.02, `${first}`)
  assert.ok(Math.abs(second / (1_000_000 * 2) - 1) < 0.02, `${second}`)
})
