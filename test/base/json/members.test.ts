import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { bounds, brokenBound, membersOf, membersWithin } from '../../../src/base/json/members.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { thorough } from '../../help/thorough.ts'

/** The members of a text, each as its name and the text of its value. */
function read(json: string): [name: string, value: string][] {
  const bytes = Buffer.from(json)
  return membersOf(bytes).map(({ name, start, end }) => [name, bytes.toString('utf8', start, end)])
}

describe('membersOf', () => {
  const objects = [
    ['{}', []],
    [' \n{ \t}\r', []],
    ['{"a":1}', [['a', '1']]],
    [
      '{ "a" : -1.5e3 , "b" : true }',
      [
        ['a', '-1.5e3'],
        ['b', 'true'],
      ],
    ],
    [
      '{"a":"x\\"}","b":{"a":[1,{"c":"]"}]},"c":[]}',
      [
        ['a', '"x\\"}"'],
        ['b', '{"a":[1,{"c":"]"}]}'],
        ['c', '[]'],
      ],
    ],
    [
      '{"a":1,"a":2,"\\u0061":3}',
      [
        ['a', '1'],
        ['a', '2'],
        ['a', '3'],
      ],
    ],
    [
      '{"a\\"b":null,"é":"🙂"}',
      [
        ['a"b', 'null'],
        ['é', '"🙂"'],
      ],
    ],
    ['{"":""}', [['', '""']]],
  ] as const
  for (const [json, members] of objects) {
    test(`finds all of ${json}`, () => {
      deepEqual(read(json), members)
    })
  }

  test('finds the ends of strings of any length, whatever is escaped at their end', () => {
    for (const length of [0, 61, 62, 63, 64, 65, 66, 500]) {
      for (const end of ['', '\\', '"', '\\"', '\\\\', '\\\\"', '""']) {
        const value = JSON.stringify('x'.repeat(length) + end)
        deepEqual(read(`{"a":${value},"b":1}`), [
          ['a', value],
          ['b', '1'],
        ])
      }
    }
  })

  test('agrees with JSON.parse on every object', () => {
    const space = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()),
        space,
        (object, space) => {
          const json = JSON.stringify(object, null, space)
          const found = read(json).map(([name, value]) => [name, JSON.parse(value)])
          deepEqual(found, Object.entries(JSON.parse(json)))
        },
      ),
    )
  })

  test('copes with deep nesting', () => {
    const deep = `${'['.repeat(1e6)}${']'.repeat(1e6)}`
    deepEqual(read(`{"a":${deep},"b":1}`), [
      ['a', deep],
      ['b', '1'],
    ])
  })
})

describe('membersWithin', () => {
  test('finds the members of whatever JSON.parse takes for an object, and survives all else', () => {
    const piece = fc.constantFrom(...'{}[]",:\\ ', 'null', '1', '"a":', '{"b":', '"\\q"', '\t', 'é')
    fc.assert(
      fc.property(fc.string({ unit: piece }), rest => {
        const json = Buffer.from(`{"a"${rest}`)
        const members = membersWithin(json, bounds)
        const object = parsed(json.toString())
        if (object === null) return
        ok(typeof members !== 'string')
        deepEqual(new Set(members.map(({ name }) => name)), new Set(Object.keys(object)))
      }),
      { numRuns: thorough(2_000, 500) },
    )
  })

  test('refuses what is beyond a bound before it is parsed, wherever it is', () => {
    const narrow = { depth: 3, values: 4 }
    const within = (json: string) => membersWithin(Buffer.from(json), narrow)
    ok(typeof within('{"a":[[1]],"b":[[]],"c":{"d":1}}') !== 'string')
    equal(within('{"a":1,"b":[[[1]]]}'), 'depth')
    equal(within('{"a":{"b":{"c":{}}}}'), 'depth')
    equal(within('{"a":[1,2,3,4,5,6]}'), 'values')
    equal(within('{"a":1,"b":2,"c":3,"d":4,"e":5}'), 'values')
    equal(within('{"a":[1,2],"b":[3,4,5]}'), 'values')
  })

  test('reads only objects, so that no other value is parsed', () => {
    for (const json of ['', ' ', '[', `${'['.repeat(1e6)}`, '"{"', '1', 'x{}'])
      equal(membersWithin(Buffer.from(json), bounds), 'no_object')
  })
})

function parsed(json: string): object | null {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

test('depth is counted without regard to strings', () => {
  const nested = (depth: number) =>
    Buffer.from(` ${'{"a":['.repeat(depth / 2)}"[[["${']}'.repeat(depth / 2)}`)
  equal(brokenBound(nested(4), { depth: 4, values: 9 }), null)
  equal(brokenBound(nested(4), { depth: 3, values: 9 }), 'depth')
  equal(brokenBound(nested(1e6), { depth: 256, values: 9 }), 'depth')
})

test('depth is also counted in invalid JSON', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'[{"\\}] a') }),
      text => void brokenBound(Buffer.from(text), { depth: 2, values: 2 }),
    ),
  )
  equal(brokenBound(Buffer.from('[[["'), { depth: 2, values: 9 }), 'depth')
  equal(brokenBound(Buffer.from(`[[["${'\\"'.repeat(100)}[[`), { depth: 3, values: 9 }), null)
})

test('values are counted everywhere but within strings', () => {
  const few = { depth: 9, values: 3 }
  equal(brokenBound(Buffer.from('{"a":[1,2],"b":",,,,",3:4}'), few), null)
  equal(brokenBound(Buffer.from('{"a":[1,2],"b":[3,4,5]}'), few), 'values')
})
