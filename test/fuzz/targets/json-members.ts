// Members of JSON found in its bytes, which must be those that JSON.parse finds.

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import {
  bounds,
  brokenBound,
  elementsAt,
  lastMember,
  membersOf,
  membersWithin,
  textAt,
} from '../../../src/base/json/members.ts'
import { isObject } from '../../../src/base/text/json.ts'
import { mutateJson } from '../engine/mutate-json.ts'
import type { Target } from '../target.ts'

const model = Buffer.from('"model"')

function attempt(input: Buffer): void {
  // What is no JSON is read as far as it goes.
  membersWithin(input, bounds)
  brokenBound(input, { depth: 5, values: 20 })
  const last = lastMember(input, model)
  if (!isUtf8(input)) return
  const value = parse(input.toString())
  if (value === undefined) return
  if (!isObject(value)) return void assert.equal(last, null)
  const members = membersOf(input)
  const read = members.map(
    ({ name, start, end }) => [name, parse(input.toString('utf8', start, end))] as const,
  )
  assert.deepEqual(Object.fromEntries(read), value)
  for (const { start, end } of members) assertElements(input, start, end)
  const own = Object.hasOwn(value, 'model')
  assert.equal(last !== null, own)
  if (last !== null) assert.deepEqual(parse(input.toString('utf8', last.start, last.end)), value.model)
}

function assertElements(input: Buffer, start: number, end: number): void {
  const value = parse(input.toString('utf8', start, end))
  const text = textAt(input, { start, end })
  assert.equal(text, typeof value === 'string' ? value : null)
  const elements = elementsAt(input, { start, end }).map(at =>
    parse(input.toString('utf8', at.start, at.end)),
  )
  assert.deepEqual(elements, Array.isArray(value) ? value : [])
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const target: Target = {
  seeds: [
    '{"model":"gpt","messages":[{"role":"user","content":"a\\"b\\u00e9"}],"n":-1.5e3}',
    ' { "mod\\u0065l" : "x", "model" : null , "a": [ [ ], { }, true ] }\r\n',
    '[{"model":1}]',
    `{"a":"${'x'.repeat(80)}\\\\","model":"y"}`,
  ],
  tokens: [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '"model"',
    '"model":"x"',
    '"mod\\u0065l":',
    '\\u006d',
    '\\',
    '\\\\',
    '\\"',
    'null',
    'true',
    '-1e5',
    '0',
    ' ',
    '\n',
    '\t',
    '\xc3\xa9',
    '{"a":',
    '[[',
    '\xef\xbb\xbf',
    '"__proto__":',
  ],
  maxLength: 512,
  covers: ['src/base/json/members.ts'],
  combine: mutateJson,
  attempt,
}
