import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../help/any-text.ts'
import { holdsOurs, valueHoldsOurs } from '../../src/tokens/misplaced-tokens.ts'
import { eachSign, redacted, redactedBytes, redactedPieces } from '../../src/tokens/redaction.ts'
import { mintToken } from '../../src/tokens/token.ts'

const { value: token } = mintToken()
const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')

test('a credential is left out wherever it is, and the rest remains', () => {
  for (const [text, safe] of [
    [token, 'svct_[redacted]'],
    [`svct_${'a'.repeat(32)}`, 'svct_[redacted]'],
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

test('there is a sign in each credential, however it is spelled and whatever is around', () => {
  const hex = (letter: string) => letter.charCodeAt(0).toString(16)
  const spellings = [
    (letter: string) => letter,
    (letter: string) => `%${hex(letter)}`,
    (letter: string) => `%2525${hex(letter)}`,
    (letter: string) => `%u00${hex(letter)}`,
    (letter: string) => `\\u00${hex(letter)}`,
    (letter: string) => `\\\\\\\\u00${hex(letter)}`,
  ]
  const spelled = fc.oneof(
    fc
      .array(fc.constantFrom(...spellings), { minLength: 5, maxLength: 5 })
      .map(five => five.map((spell, i) => spell(token[i]!)).join('') + token.slice(5)),
    fc.constantFrom('basic ', 'Basic ', 'BASIC\t', 'bASIC ').map(name => name + base64(`a:${token}`)),
  )
  const around = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 100 }),
    fc.array(fc.constantFrom('vc', '%', '\\u00e9', 'Basic words ', 'x'.repeat(40))).map(all => all.join('')),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(around, spelled)), around, (parts, end) => {
      const starts: number[] = []
      let text = ''
      for (const [before, one] of parts) {
        text += `${before} `
        starts.push(Buffer.byteLength(text))
        text += `${one} `
      }
      const signs = new Set<number>()
      eachSign(Buffer.from(text + end), at => {
        signs.add(starts.findLastIndex(start => start <= at))
        return at + 1
      })
      for (const i of starts.keys()) equal(signs.has(i), true, text)
    }),
  )
})

test('the search for signs goes on where its caller says', () => {
  const found: number[] = []
  eachSign(Buffer.from('svc svc svc svc'), at => {
    found.push(at)
    return at + 5
  })
  deepEqual(found, [0, 8])
})

test('ordinary words have no sign', () => {
  const text = 'A basic set of services for 50 % of us, 100%, \\n \\u00e9 \\u4f60, Basic access is vcs. '
  eachSign(Buffer.from(text.repeat(20)), at => {
    throw new Error(text.slice(at))
  })
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
  deepEqual(redactedPieces([`${token} b`, 'c d e f']), ['svct_[redacted] b', 'c d e f'])
  deepEqual(redactedPieces(['svct_', token.slice(5), '.']), ['svct_', '[redacted]', '.'])
  deepEqual(redactedPieces([`${token} ${token}`, '']), ['svct_[redacted] svct_[redacted]', ''])
})
