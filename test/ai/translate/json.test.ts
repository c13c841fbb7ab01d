import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countIn, objectIn, objectsIn, readObject, textIn } from '../../../src/ai/translate/json.ts'
import { thorough } from '../../help/thorough.ts'

test('reads an object, and nothing else', () => {
  deepEqual(readObject('{"a":[1]}'), { a: [1] })
  for (const json of ['', '[]', '1', 'null', '"a"', '{', '{"a":}', '{} {}']) equal(readObject(json), null)
})

test('numbers that a double cannot hold keep their digits', () => {
  const json = '{"id":12345678901234567890,"small":-9007199254740993,"exact":0.1,"long":0.30000000000000004}'
  equal(JSON.stringify(readObject(json)), json)
  for (const number of ['9007199254740993123', '1e400', '-1E-400', '123456789.123456789123', '0.1e1000'])
    equal(JSON.stringify(readObject(`{"a":[${number}]}`)), `{"a":[${number}]}`)
})

test('a number that kept its digits is no object, and no count', () => {
  const number = readObject('{"a":9007199254740993123}')!.a
  deepEqual([objectIn(number), objectsIn([number]), countIn(number)], [{}, [], undefined])
})

test('an object is read back as it was written', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), value => {
      const json = JSON.stringify(value)
      equal(JSON.stringify(readObject(json)), json)
    }),
  )
})

test('no text makes reading throw, however deep it is nested', () => {
  fc.assert(fc.property(fc.string(), json => void readObject(json)))
  const deep = `{"digits":1234567890123456789,"deep":${'['.repeat(1e6)}${']'.repeat(1e6)}}`
  equal(readObject(deep), null)
  equal(readObject('{"a":'.repeat(1e6)), null)
})

test('an object is read up to 256 levels and half a million values, and beyond that counts as nothing', () => {
  const levels = (count: number) => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`
  ok(readObject(levels(256)))
  equal(readObject(levels(257)), null)
  const values = (count: number) => `{"a":[${'1,'.repeat(count - 1)}1]}`
  ok(readObject(values(500_001)))
  equal(readObject(values(500_002)), null)
  const brackets = `{"a":"\\"${'['.repeat(1_000)}"}`
  equal(JSON.stringify(readObject(brackets)), brackets)
})

test('a value of another type counts as nothing', () => {
  deepEqual([objectIn([]), objectIn(null), objectIn('a')], [{}, {}, {}])
  deepEqual(objectsIn([{ a: 1 }, 2, null, []]), [{ a: 1 }])
  deepEqual(objectsIn('no list'), [])
  deepEqual([textIn('a'), textIn(1)], ['a', ''])
  deepEqual(
    [countIn(3), countIn(-1), countIn('3'), countIn(Number.NaN)],
    [3, undefined, undefined, undefined],
  )
})

test('a number is written as it was read, however it was spelled', () => {
  const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`))
  const spelled = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,25}$/)),
      fc.option(digits(25), { nil: null }),
      fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(3)), { nil: null }),
    )
    .map(
      ([sign, whole, decimals, exponent]) =>
        `${sign}${whole}${decimals === null ? '' : `.${decimals}`}${exponent === null ? '' : exponent.join('')}`,
    )
  fc.assert(
    fc.property(spelled, number => {
      const read = JSON.stringify(readObject(`{"a":[${number}]}`))
      // One that is written with an exponent by JavaScript alone has the same value.
      if (/^-?0\.0{6}/.test(number)) equal(Number(read.slice(6, -2)), Number(number))
      else equal(read, `{"a":[${number}]}`)
    }),
    { numRuns: thorough(2000, 400), examples: [['-0'], ['1.0'], ['1e5'], ['-0.0'], ['0.10'], ['1E400']] },
  )
})

test('a count may be spelled in any way', () => {
  const { a } = readObject('{"a":[1e2,7.0,-0,1e400,9007199254740993,-1e2]}') as { a: unknown[] }
  deepEqual(a.map(countIn), [100, 7, -0, undefined, undefined, undefined])
})
