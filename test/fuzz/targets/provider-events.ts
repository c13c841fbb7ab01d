// Event streams of providers, through each translator, the reading of usage, and the search for first content.

import assert from 'node:assert/strict'
import { usageOf } from '../../../src/ai/usage/usage.ts'
import { FirstContent } from '../../../src/edge/ai-call/content-start.ts'
import type { ResponseHead } from '../../../src/http1/heads/response-head.ts'
import { mutateEvents } from '../engine/mutate-json.ts'
import { sameInPieces, type Target } from '../target.ts'
import { assertEvents, callOf, eventTokens, streamOf, ways, withoutRandomIds } from '../translations.ts'

const head = { isEventStream: true, isEncoded: false } as ResponseHead

const translations = ways.map(({ from, translate }) => {
  const translation = translate(callOf[from], 'gpt-5')
  assert.ok('events' in translation, JSON.stringify(translation))
  return translation
})

function attempt(input: Buffer): void {
  for (const translation of translations)
    sameInPieces(input, pieces => {
      const translator = translation.events()
      let text = ''
      for (const piece of pieces) text += translator.push(piece)
      text += translator.end()
      assertEvents(text)
      return [withoutRandomIds(text), translator.isComplete, translator.isBroken]
    })
  sameInPieces(input, pieces => {
    const first = new FirstContent(head)
    return [pieces.some(piece => first.push(piece)), first.isError]
  })
  const cut = input.length >> 1
  for (const isWhole of [false, true])
    for (const [beginning, tail] of [
      [input, input.subarray(input.length)],
      [input.subarray(0, cut), input.subarray(cut)],
    ] as const) {
      const usage = usageOf({ head: beginning, tail, isEventStream: true, isWhole })
      for (const count of [usage.tokensIn, usage.tokensOut, usage.cost])
        assert.ok(count === null || (Number.isFinite(count) && count >= 0), String(count))
    }
}

export const target: Target = {
  seeds: Object.values(streamOf),
  tokens: eventTokens,
  maxLength: 4096,
  covers: ['src/ai/', 'src/edge/ai-call/content-start.ts'],
  combine: mutateEvents,
  attempt,
}
