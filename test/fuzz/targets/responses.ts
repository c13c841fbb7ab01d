// Whole responses of models and their errors, translated to each other API.

import assert from 'node:assert/strict'
import { usageOf } from '../../../src/ai/usage/usage.ts'
import { isObject } from '../../../src/base/text/json.ts'
import { mutateJson } from '../engine/mutate-json.ts'
import type { Target } from '../target.ts'
import { callOf, jsonTokens, responseOf, ways } from '../translations.ts'

const translations = ways.map(({ from, translate }) => {
  const translation = translate(callOf[from], 'gpt-5')
  assert.ok('response' in translation)
  return translation
})

function attempt(input: Buffer): void {
  const text = input.toString()
  for (const { response, failure } of translations)
    for (const written of [response(text), failure?.(text, 429) ?? null])
      assert.ok(written === null || isObject(JSON.parse(written)))
  const usage = usageOf({
    head: input,
    tail: input.subarray(input.length),
    isEventStream: false,
    isWhole: true,
  })
  for (const count of [usage.tokensIn, usage.tokensOut, usage.cost])
    assert.ok(count === null || (Number.isFinite(count) && count >= 0), String(count))
}

export const target: Target = {
  seeds: [
    ...Object.values(responseOf),
    { error: { message: 'm', type: 'rate_limit_error', code: 'c' }, type: 'error' },
  ].map(response => JSON.stringify(response)),
  tokens: jsonTokens,
  maxLength: 4096,
  covers: ['src/ai/'],
  combine: mutateJson,
  attempt,
}
