import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Capture } from '../../../src/ai-logs/capture.ts'
import { Tap } from '../../../src/edge/ai-call/tap.ts'
import { ManualClock } from '../../help/clock.ts'
import { answerHead } from '../../help/exchange.ts'

const ok = answerHead('HTTP/1.1 200 OK', 'Content-Length: 4')
const bytes = (text: string) => Buffer.from(text, 'latin1')
const textOf = (capture: Capture | null) => capture?.head().toString('latin1') ?? null

/** A tap of a call that went to its provider. */
function tapped(keepsPayloads = true): Tap {
  const tap = new Tap({ keepsPayloads, isEncoded: false })
  tap.isUnderWay = true
  return tap
}

test('both bodies are kept, and the time of the first byte of the response', () => {
  const clock = new ManualClock(1_000)
  const tap = tapped()
  tap.noteRequest(bytes('as'))
  tap.noteRequest(bytes('k'))
  tap.noteHead(ok, false)
  assert.equal(tap.firstByteAt, 0)
  tap.noteResponse(bytes('to'), clock)
  clock.advance(5)
  tap.noteResponse(bytes('ld'), clock)
  assert.deepEqual([textOf(tap.request), textOf(tap.response), textOf(tap.relayed)], ['ask', 'told', null])
  assert.deepEqual([tap.firstByteAt, tap.head], [1_000, ok])
})

test('what the client gets in other words is kept beside the response', () => {
  const tap = tapped()
  tap.noteHead(ok, true)
  tap.noteResponse(bytes('their words'), new ManualClock())
  tap.noteRelayed(bytes('our words'))
  assert.deepEqual([textOf(tap.response), textOf(tap.relayed)], ['their words', 'our words'])
})

test('an error of ours is kept as the response to a call that went on its way, and to no other', () => {
  const tap = tapped()
  tap.noteOwnResponse('an error: \u00e9')
  assert.equal(textOf(tap.relayed), 'an error: \u00e9')
  const early = new Tap({ keepsPayloads: true, isEncoded: false })
  early.noteOwnResponse('an error')
  assert.equal(early.relayed, null)
})

test('an error that ends a stream is kept behind what the client has of it', () => {
  const tap = tapped()
  tap.noteHead(ok, false)
  tap.noteResponse(bytes('data: 1\n\n'), new ManualClock())
  tap.noteOwnEnd('data: error\n\n')
  assert.equal(textOf(tap.relayed), 'data: 1\n\ndata: error\n\n')
  const rewritten = tapped()
  rewritten.noteHead(ok, true)
  rewritten.noteRelayed(bytes('ours: 1\n\n'))
  rewritten.noteOwnEnd('ours: error\n\n')
  assert.equal(textOf(rewritten.relayed), 'ours: 1\n\nours: error\n\n')
})

test('where so much came that its end is not kept, neither is ours', () => {
  const tap = tapped()
  tap.noteHead(ok, false)
  tap.noteResponse(Buffer.alloc(70_000, 'x'), new ManualClock())
  tap.noteOwnEnd('data: error\n\n')
  assert.equal(tap.relayed, null)
})

test('without stored payloads the response is only read for its usage', () => {
  const tap = tapped(false)
  tap.noteRequest(bytes('ask'))
  tap.noteHead(ok, true)
  tap.noteResponse(bytes('told'), new ManualClock())
  tap.noteOwnResponse('an error')
  tap.noteOwnEnd('an error')
  assert.deepEqual([tap.request, textOf(tap.response), tap.relayed], [null, 'told', null])
})
