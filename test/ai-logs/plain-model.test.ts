import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { plainModel } from '../../src/ai-logs/plain-model.ts'
import { anyCharacter } from '../help/any-text.ts'

const near = 1024

/** Reads the model the long way, and what is plain of it. */
function searched(text: string): string | null {
  const at = text.indexOf('"model"')
  if (at === -1) return null
  return /^"model"[ \n\r\t]*:[ \n\r\t]*"([^"\\\u0080-\u{10ffff}]{1,256})"/u.exec(text.slice(at))?.[1] ?? null
}

function read(text: string): string | null {
  return plainModel(Buffer.from(text), near)
}

test('the model is read wherever it stands, again and again', () => {
  for (const model of ['gpt-4o', 'gpt-4o', 'gpt-4o-mini', 'claude', 'Claude', 'claude']) {
    assert.equal(read(JSON.stringify({ model, messages: [] })), model)
    assert.equal(read(JSON.stringify({ messages: ['"model":"x"', { content: 'é' }], model }, null, 2)), model)
  }
})

test('what is no plain text is left to others', () => {
  const longest = 'a'.repeat(256)
  assert.equal(read(`{"model":"${longest}"}`), longest)
  for (const value of ['""', '"a\\u002fb"', '"é"', '{"a":1}', 'null', '1', `"${longest}a"`, '"cut', ''])
    assert.equal(read(`{"model":${value}`), null)
  for (const body of ['', '{', '{"model"', '{"models":"a"}']) assert.equal(read(body), null)
})

test('a name is found up to the end of what is near', () => {
  const body = (size: number) => `${' '.repeat(size)}"model":"a"`
  assert.equal(read(body(near - '"model"'.length)), 'a')
  assert.equal(read(body(near - '"model"'.length + 1)), null)
})

test('any text is read as a search reads it', () => {
  const piece = fc.constantFrom(
    '"model"',
    '"mod',
    ':',
    ' ',
    '\n',
    '"',
    'gpt-4o',
    'é',
    '\\',
    '{',
    ',',
    '\u00a0',
  )
  const text = fc.oneof(
    fc.array(piece).map(pieces => pieces.join('')),
    fc.array(piece).map(pieces => `{"model":"gpt"${pieces.join('')}`),
    fc.string({ unit: anyCharacter }),
  )
  fc.assert(
    fc.property(text, text => {
      const bytes = Buffer.from(text)
      assert.equal(plainModel(bytes, bytes.length), searched(bytes.toString()))
    }),
    { numRuns: 1000 },
  )
})
