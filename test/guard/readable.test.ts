import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { patterns } from '../../src/guard/patterns.ts'
import { readJson } from '../../src/guard/readable.ts'
import { redactJson } from '../../src/guard/redact.ts'
import { PatternSet } from '../../src/guard/scan.ts'
import { matchesIn } from '../../src/guard/text-scanner.ts'
import { anyCharacter } from '../help/any-text.ts'
import { thorough } from '../help/thorough.ts'
import { secrets } from './secrets.ts'

const all = new PatternSet(patterns)
const json = { contentType: 'application/json', contentEncoding: null }

test('JSON in UTF-8 can be read, and nothing that somebody might read otherwise', () => {
  const text = '{"a":"é"}'
  assert.equal(readJson(Buffer.from(text), json), text)
  assert.equal(readJson(Buffer.from(text), { ...json, contentType: null }), text)
  assert.equal(
    readJson(Buffer.from(text), { ...json, contentType: 'application/json; charset="UTF-8"' }),
    text,
  )
  assert.equal(readJson(Buffer.from(`\ufeff${text}`), json), `\ufeff${text}`)
  for (const [body, type] of [
    [Buffer.from(text, 'latin1'), json],
    [Buffer.from(text, 'utf16le'), json],
    [Buffer.from('{"a":"\\x41"}'), json],
    [Buffer.from(text), { ...json, contentEncoding: 'gzip' }],
    [Buffer.from(text), { ...json, contentType: 'text/plain' }],
    [Buffer.from(text), { ...json, contentType: 'application/json; charset=utf-7' }],
  ] as const)
    assert.equal(readJson(body, type), null)
})

test('any JSON stays JSON, and has nothing left that is redacted', () => {
  const secret = fc.constantFrom(...Object.values(secrets).flat())
  const string = fc.oneof(secret, fc.string({ unit: anyCharacter, maxLength: 9 }))
  const leaf = fc.oneof(
    fc.tuple(string, secret, string).map(parts => parts.join(' ')),
    string,
    fc.constantFrom(4111111111111111, -4111111111111111, 1.5, null, true),
  )
  const { value } = fc.letrec(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value')),
      fc.dictionary(string, tie('value')),
    ),
  }))
  const written = fc.tuple(value, fc.boolean()).map(([value, isAscii]) => {
    const text = JSON.stringify(value)
    if (!isAscii) return text
    return text.replace(/[^ -~]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  })
  fc.assert(
    fc.property(written, text => {
      const redacted = redactJson(text, matchesIn(text, all))
      JSON.parse(redacted)
      assert.deepEqual(matchesIn(redacted, all), [])
    }),
    { numRuns: thorough(500, 100) },
  )
})
