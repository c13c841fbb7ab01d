import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../help/any-text.ts'
import { holdsOurs, valueHoldsOurs } from '../../src/tokens/misplaced-tokens.ts'
import { redacted, redactedBytes, redactedPieces } from '../../src/tokens/redaction.ts'
import { mintToken } from '../../src/tokens/token.ts'

const { value: token } = mintToken()
const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')

test('a credential is left out wherever it is, and the rest remains', () => {
  for (const [text, safe] of [
    [token, 'svct_[redacted]'],
    [`a ${token}, ${mintToken('svcr_').value}.`, 'a svct_[redacted], svcr_[redacted].'],
    [`{"a":"\\u0073${token.slice(1)}"}`, '{"a":"\\u0073vct_[redacted]"}'],
    [`{"a":"svct\\u005f${token.slice(5)}"}`, '{"a":"svct\\u005f[redacted]"}'],
    [`{"a":"{\\"b\\":\\"\\\\u0073${token.slice(1)}\\"}"}`, '{"a":"{\\"b\\":\\"\\\\u0073vct_[redacted]\\"}"}'],
    [`a=1&key=%73${token.slice(1)}&b=2`, 'a=1&key=%73vct_[redacted]&b=2'],
    [`a=s%2576${token.slice(2)}&b=2`, 'a=s%2576ct_[redacted]&b=2'],
    [`Authorization: Basic ${base64(`user:${token}`)}\n`, 'Authorization: Basic [redacted]\n'],
    [`bASIC\t${base64(`${token}:`)}`, 'bASIC\t[redacted]'],
    [`Basic ${base64('user:a long password that is not one of ours at all')}`, null],
    ['a basic topic with 50% and \\u0073, svct_ and svct_your-token-here', null],
    ['', null],
  ] as const) {
    equal(redacted(text), safe ?? text)
    const bytes = Buffer.from(text)
    equal(redactedBytes(bytes).toString(), safe ?? text)
    if (safe === null) equal(redactedBytes(bytes), bytes)
  }
})

test('bytes that are no text keep all others', () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0, 0x80]), Buffer.from(token), Buffer.from([0xfe, 0])])
  const safe = Buffer.concat([
    Buffer.from([0xff, 0, 0x80]),
    Buffer.from('svct_[redacted]'),
    Buffer.from([0xfe, 0]),
  ])
  deepEqual(redactedBytes(bytes), safe)
})

test('whatever is around a credential, nothing of it is left, in bytes as in pieces', () => {
  const around = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom(token, 'svct_', '%', '\\', 'Basic '),
  )
  const spelled = fc.constantFrom(
    token,
    encodeURIComponent(token).replace('s', '%73'),
    `\\u0073${token.slice(1)}`,
    `Basic ${base64(`a:${token}`)}`,
  )
  fc.assert(
    fc.property(around, spelled, around, fc.array(fc.nat(200)), (before, one, after, cuts) => {
      const text = `${before} ${one} ${after}`
      const safe = redactedBytes(Buffer.from(text)).toString()
      equal(valueHoldsOurs(safe), false, safe)
      const places = [...new Set(cuts.map(cut => Math.min(cut, text.length)))].sort((a, b) => a - b)
      const pieces = [0, ...places].map((from, i) => text.slice(from, places[i] ?? text.length))
      equal(pieces.join(''), text)
      const left = redactedPieces(pieces)
      equal(left.length, pieces.length)
      equal(holdsOurs(left.join('')), false)
      // Elsewhere nothing changes.
      if (!holdsOurs(text)) deepEqual(left, pieces)
    }),
  )
})

test('a credential in pieces is left out of each, and its place is in the first', () => {
  deepEqual(
    redactedPieces([
      'a s',
      'vct',
      `_${token.slice(5, 20)}`,
      token.slice(20, 40),
      `${token.slice(40)} b`,
      'c',
    ]),
    ['a s', 'vct', '_[redacted]', '', ' b', 'c'],
  )
  deepEqual(redactedPieces([`${token} ${token}`, '']), ['svct_[redacted] svct_[redacted]', ''])
})
