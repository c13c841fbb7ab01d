import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { holdsOurs, isMisborne, valueHoldsOurs } from '../../src/tokens/misplaced.ts'
import { mintToken } from '../../src/tokens/token.ts'

const { value: token } = mintToken()
const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')

describe('holdsOurs', () => {
  for (const text of [
    token,
    'svco_a',
    'svcr_a',
    'svcs_a',
    `/v1/x?key=${token}`,
    `/v1/x?a=b&${token}`,
    `/v1/${token}/x`,
    '?key=%73vct_a',
    '?key=s%76%63t%5fa',
    '?key=%73%76%63%74%5Fa',
    '?key=svc%6F_a&b',
    '?key=svc%72%5Fa',
    '?key%3Dsvct_a',
    '?key%253Dsvct_a',
    '?key=%2573vct_a',
    '?key=%252573vc%2574_a',
    'a, svct_',
    `Bearer${token}`,
    `?key=%20a${token}`,
    `7svcs_${'-'.repeat(43)}`,
    `asvct%5F${'a'.repeat(43)}`,
    `a%73vct_${'a'.repeat(43)}`,
    `a%2573%76ct_%61${'a'.repeat(42)}`,
    '?key=%u0073vct_a',
    `a%25u0073vc%u0074_${'a'.repeat(43)}`,
  ])
    test(`finds it in ${text.slice(0, 30)}`, () => equal(holdsOurs(text), true))

  for (const text of [
    '',
    'svc',
    'svct',
    'svct-a',
    'svcx_a',
    'asvct_a',
    `asvct_${'a'.repeat(42)}.`,
    '0svct_a',
    '%',
    '%73',
    'svc-aig-x',
    'SVCT_a',
  ])
    test(`finds none in ${text}`, () => equal(holdsOurs(text), false))

  test('finds it in any spelling, behind anything that is no part of a word', () => {
    const start = fc.constantFrom('t', 'o', 'r', 's').map(kind => `svc${kind}_`)
    const spell = (text: string, levels: readonly number[], upper: boolean) =>
      [...text]
        .map((letter, i) => {
          const digits = letter.charCodeAt(0).toString(16)
          const level = levels[i]!
          return level === 0 ? letter : `%${'25'.repeat(level - 1)}${upper ? digits.toUpperCase() : digits}`
        })
        .join('')
    const levels = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 5, maxLength: 5 })
    const before = fc.oneof(
      fc.string().filter(text => !/[A-Za-z0-9]$/.test(text)),
      fc.constantFrom('a=', '%3D', '%253d', '?'),
    )
    fc.assert(
      fc.property(before, start, levels, fc.boolean(), fc.string(), (before, start, levels, upper, after) => {
        equal(holdsOurs(before + spell(start, levels, upper) + after), true)
      }),
    )
  })
})

describe('valueHoldsOurs', () => {
  for (const text of [
    token,
    `Basic ${base64(`:${token}`)}`,
    `Basic ${base64(`${token}:`)}`,
    `basic\t ${base64(`user:${token}`)}`,
    `BASIC ${Buffer.from(`user:svcs_a`).toString('base64url')}`,
    `Basic ${token}`,
    `Bearer x, Basic ${base64(`:${token}`)}`,
    `a="Basic ${base64(`:${token}`)}"`,
    `Basic ${base64('a:b')}, basic\t${base64(token)}`,
    'Basic YTpi, '.repeat(17),
  ])
    test(`finds it in ${text.slice(0, 30)}`, () => equal(valueHoldsOurs(text), true))
  for (const text of [
    '',
    'Basic',
    'Basic ',
    `Basic ${base64('user:password')}`,
    'Basic YTpi, '.repeat(16),
    `Nobasic ${base64(`:${token}`)}`,
    `Digest ${base64(`:${token}`)}`,
    'b',
  ])
    test(`finds none in ${text.slice(0, 30)}`, () => equal(valueHoldsOurs(text), false))
})

describe('isMisborne', () => {
  for (const [value, expected] of [
    [`Bearer ${token}`, false],
    [`bearer  ${token} `, false],
    ['Bearer sk-other', false],
    [token, true],
    [`Token ${token}`, true],
    [`Basic ${base64(`:${token}`)}`, true],
    [`Bearer a ${token}`, true],
    [`Bearer a,${token}`, true],
    [`Bearer a.${token}`, true],
    ['Bearer SVCT_a-svct_a', true],
    ['Bearer svct_a svct_a', true],
  ] as const)
    test(`says ${expected} of ${value.slice(0, 20)}`, () => equal(isMisborne(value), expected))
})
