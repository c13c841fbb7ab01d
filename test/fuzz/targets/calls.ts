// Bodies of AI calls, translated to each other API: another valid body, or a refusal.

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { refuseDuplicate } from '../../../src/ai/translate/duplicates.ts'
import { readRequest } from '../../../src/ai/request-body.ts'
import { isObject } from '../../../src/base/text/json.ts'
import { mutateJson } from '../engine/mutate-json.ts'
import type { Target } from '../target.ts'
import { callOf, jsonTokens, ways } from '../translations.ts'

function attempt(input: Buffer): void {
  const request = readRequest(input)
  if (!isUtf8(input)) return
  const text = input.toString()
  const value = parse(text)
  if (!isObject(value)) return
  refuseDuplicate(text)
  if (!('model' in request)) return
  for (const { from, to, translate } of ways) {
    const before: string = JSON.stringify(value)
    const translation = translate(value, 'gpt-5')
    assert.equal(JSON.stringify(value), before, 'a request is read alone')
    if (!('body' in translation)) {
      assert.ok(translation.faults.length > 0)
      continue
    }
    const body = JSON.parse(translation.body.toString()) as Record<string, unknown>
    assert.equal(body.model, 'gpt-5', `${from} to ${to}`)
    translation.events().end()
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const target: Target = {
  seeds: Object.values(callOf).map(call => JSON.stringify(call)),
  tokens: jsonTokens,
  maxLength: 4096,
  covers: ['src/ai/'],
  combine: mutateJson,
  attempt,
}
