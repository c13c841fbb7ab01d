import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  parseTraceParent,
  parseTraceState,
  traceParentText,
} from '../../../src/http1/fields/trace-context.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'
const good = `00-${trace}-${span}-01`

describe('parseTraceParent', () => {
  for (const [value, flags] of [
    [good, 1],
    [`00-${trace}-${span}-00`, 0],
    [`00-${trace}-${span}-03`, 3],
    [`00-${trace}-${span}-ff`, 3],
    [`00-${trace}-${span}-08`, 0],
    [`cc-${trace}-${span}-01`, 1],
    [`cc-${trace}-${span}-01-what-comes-next`, 1],
    [`cc-${trace}-${span}-01-`, 1],
  ] as const)
    test(`reads ${value}`, () =>
      deepEqual(parseTraceParent(value), { traceId: trace, parentId: span, flags }))

  for (const value of [
    '',
    good.slice(0, -1),
    `${good}-`,
    `${good}-00`,
    `${good}0`,
    ` ${good}`,
    `${good} `,
    `ff-${trace}-${span}-01`,
    `cc-${trace}-${span}-01.what`,
    `0-${trace}-${span}-01`,
    `0g-${trace}-${span}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span.toUpperCase()}-01`,
    `00-${trace}-${span}-0X`,
    `00-${trace}-${span}-0A`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00_${trace}_${span}_01`,
    `00-${trace}0-${span}-1`,
    `${good},${good}`,
  ])
    test(`refuses ${JSON.stringify(value)}`, () => equal(parseTraceParent(value), null))

  test('reads no more into any text than is there', () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
    const near = fc.tuple(hex(2), hex(32), hex(16), hex(2)).map(parts => parts.join('-'))
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          near,
          near.map(text => text.toUpperCase()),
        ),
        text => {
          const read = parseTraceParent(text)
          if (read === null) return
          equal(text.slice(3, 52), `${read.traceId}-${read.parentId}`)
          deepEqual(parseTraceParent(traceParentText(read)), read)
        },
      ),
    )
  })
})

describe('parseTraceState', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=v`).join(',')
  for (const [joined, passed] of [
    ['', ''],
    ['a=1', 'a=1'],
    ['a=1,b=2', 'a=1,b=2'],
    [' a=1 ,\t, b=2 2,', 'a=1,b=2 2'],
    ['0tenant@system=a@b:c;d', '0tenant@system=a@b:c;d'],
    ['a-_*/0= x', 'a-_*/0= x'],
    [many(32), many(32)],
    [','.repeat(127), ''],
    [`${'k'.repeat(256)}=${'v'.repeat(256)}`, `${'k'.repeat(256)}=${'v'.repeat(256)}`],
  ] as const)
    test(`passes ${joined.slice(0, 40)} on`, () => equal(parseTraceState(joined), passed))

  for (const joined of [
    'a',
    'a=',
    '=1',
    'a=1=2',
    'A=1',
    'a b=1',
    '_a=1',
    'a=1,a=2',
    'a=\u007f',
    'a=ä',
    'a=1,b',
    many(33),
    ','.repeat(128),
    `${'k'.repeat(257)}=v`,
    `k=${'v'.repeat(257)}`,
  ])
    test(`refuses ${JSON.stringify(joined.slice(0, 40))}`, () => equal(parseTraceState(joined), null))

  test('what it passes on is read as the same', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab0=, \t@A_', '\u0000') })
    fc.assert(
      fc.property(text, joined => {
        const passed = parseTraceState(joined)
        if (passed !== null) equal(parseTraceState(passed), passed)
      }),
    )
  })
})
