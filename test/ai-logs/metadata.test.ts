import { deepEqual, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseMetadata } from '../../src/ai-logs/metadata.ts'
import { anyCharacter } from '../help/any-text.ts'

/** A text as it stands in a field value: each byte a character. */
function sent(text: string): string {
  return Buffer.from(text).toString('latin1')
}

describe('parseMetadata', () => {
  const taken = [
    '{}',
    ' {"a":"b"} ',
    '{"a":1,"b":-2.5,"c":true,"d":null,"e":""}',
    '{"é":"🙂"}',
    '{"__proto__":1}',
  ]
  for (const text of taken) {
    test(`takes ${text}`, () => {
      deepEqual(parseMetadata(sent(text)), { value: JSON.parse(text) })
    })
  }

  const refused = [
    ['', 'must be a JSON object'],
    ['team=search', 'must be a JSON object'],
    ['[1]', 'must be a JSON object'],
    ['null', 'must be a JSON object'],
    ['{"a":1', 'must be a JSON object'],
    ['{"a":{}}', 'must have only strings, numbers'],
    ['{"a":[]}', 'must have only strings, numbers'],
    ['{"a":1e999}', 'must have only strings, numbers'],
    ['{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}', 'must have at most 5 members'],
    [`{"a":"${'x'.repeat(4096)}"}`, 'must have at most 4096 bytes'],
  ] as const
  for (const [text, rule] of refused) {
    test(`refuses ${text.slice(0, 50)}: ${rule}`, () => {
      const reading = parseMetadata(sent(text))
      ok('flaw' in reading && reading.flaw.startsWith(rule))
    })
  }

  test('refuses bytes that are no UTF-8', () => {
    ok('flaw' in parseMetadata('{"a":"\xff"}'))
  })

  test('reads any text, and gives back what was written', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), text => void parseMetadata(text)))
    const plain = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
    fc.assert(
      fc.property(fc.dictionary(fc.string(), plain, { maxKeys: 5 }), object => {
        const json = JSON.stringify(object)
        deepEqual(parseMetadata(sent(json)), { value: JSON.parse(json) })
      }),
    )
  })
})
