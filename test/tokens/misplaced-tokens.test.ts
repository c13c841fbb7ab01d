import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  holdsOurs,
  hasMisplacedToken,
  placeInField,
  placeInLine,
  valueHoldsOurs,
} from '../../src/tokens/misplaced-tokens.ts'
import { cpuTime } from '../help/stall.ts'

/** Always the same, as tests are named after it. */
const token = `svct_${'kB9x-QmV_3nT7rLfYpWcZaHdJsGuEoIiN5tR8vXyK2MbA0c'.padEnd(49, 'Z')}`
const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')

/** As much of a secret as makes a credential, and what can be guessed from no less. */
const most = 'a'.repeat(32)
const less = 'a'.repeat(31)

describe('holdsOurs', () => {
  for (const text of [
    token,
    `svco_${token.slice(5)}`,
    `svcr_${token.slice(5)}`,
    `svcs_${'-'.repeat(43)}`,
    `svct_${most}`,
    `/v1/x?key=${token}`,
    `/v1/x?a=b&${token}`,
    `/v1/${token}/x`,
    `?key=%73vct_${most}`,
    `?key=s%76%63t%5f${most}`,
    `?key=%73%76%63%74%5F${most}`,
    `?key=svc%6F_${most}&b`,
    `?key=svc%72%5F${most}`,
    `?key=svct_%61%41%2d%2D%5f%5F%30%39%7A%5a${'a'.repeat(22)}`,
    `?key%3Dsvct_${most}`,
    `?key%253Dsvct_${most}`,
    `?key=%2573vct_${most}`,
    `?key=%252573vc%2574_${most}`,
    `?key=svct_%252561%2561${'a'.repeat(30)}`,
    `a, svct_${most}`,
    `svct_${less}.svct_${most}`,
    `svct_svct_${most}`,
    `svct_a-b_C${most}`,
    `svct_a-${most}`,
    `svct_a-b-%61${most}`,
    `svct_-a-b-${most}`,
    `Bearer${token}`,
    `?key=%20a${token}`,
    `a%73vct_${most}`,
    `a%2573%76ct_%61${less}`,
    `?key=%u0073vct_${most}`,
    `a%25u0073vc%u0074_${most}`,
    `{"a":"\\u0073vct\\u005F${most}"}`,
    `{"a":"{\\"b\\":\\"\\\\u0073vct_\\\\u0061${less}\\"}"}`,
  ])
    test(`finds it in ${text.slice(0, 30)}`, () => equal(holdsOurs(text), true))

  for (const text of [
    '',
    'svc',
    'svct_',
    '/search?q=svct_',
    '/docs/tokens-begin-with-svct_-and-client-secrets-with-svcs_',
    'svct_your-token-here',
    '/?utm_campaign=websvcs_registration_confirmation_page_v2_final',
    '/ext_svcs_authentication_token_refresh_handler',
    'svcs_550e8400-e29b-41d4-a716-446655440000',
    `svct_${less}`,
    `svct_${less}.${most}`,
    `svct_${less}%20${most}`,
    `svct_${less}%25${most}`,
    `svct-${most}`,
    `svcx_${most}`,
    `SVCT_${most}`,
    `svct_ ${most}`,
    '%',
    `%73${most}`,
    `svc-aig-x ${most}`,
  ])
    test(`finds none in ${text.slice(0, 40)}`, () => equal(holdsOurs(text), false))

  test('finds it in any spelling, behind anything', () => {
    const start = fc.constantFrom('t', 'o', 'r', 's').map(kind => `svc${kind}_`)
    const secret = fc.stringMatching(/^[\w-]{32,60}$/)
    const spell = (text: string, levels: readonly number[], upper: boolean) =>
      [...text]
        .map((letter, i) => {
          const digits = letter.charCodeAt(0).toString(16)
          const written = upper ? digits.toUpperCase() : digits
          const level = levels[i % levels.length]!
          if (level === 0) return letter
          return level < 0 ? `${'\\'.repeat(-level)}u00${written}` : `%${'25'.repeat(level - 1)}${written}`
        })
        .join('')
    const levels = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(
        fc.string(),
        start,
        secret,
        levels,
        fc.boolean(),
        fc.string(),
        (before, start, secret, levels, upper, after) => {
          equal(holdsOurs(before + spell(start + secret, levels, upper) + after), true)
        },
      ),
    )
  })

  test('takes no longer than the text is long, however it is made', () => {
    for (const piece of [
      'svct_',
      '%25',
      '%2573',
      '\\',
      '\\u0073',
      `svct_${less}`,
      `svct_${'%2561'.repeat(31)}`,
      's%76',
    ])
      for (const end of ['', '.']) {
        const text = piece.repeat(1_000_000 / piece.length) + end
        ok(cpuTime(() => holdsOurs(text)) < 2_000, piece)
      }
  })
})

describe('valueHoldsOurs', () => {
  for (const text of [
    token,
    `Basic ${base64(`:${token}`)}`,
    `Basic ${base64(`${token}:`)}`,
    `basic\t ${base64(`user:${token}`)}`,
    `BASIC ${Buffer.from(`user:svcs_${most}`).toString('base64url')}`,
    `Basic ${token}`,
    `svct_${most}`,
    `Basic ${Buffer.from(`svct_${most}`).toString('base64url')}`,
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

describe('hasMisplacedToken', () => {
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
    [`Bearer SVCT_a-svct_${most}`, true],
    [`Bearer svct_${most} svct_${most}`, true],
    [`Bearer svct_${most}`, false],
    [`Bearer ${token}==`, false],
  ] as const)
    test(`says ${expected} of ${value.slice(0, 20)}`, () => equal(hasMisplacedToken(value), expected))
})

test('a place is told by its kind, and by the name of a header', () => {
  for (const [method, target, place] of [
    ['GET', `/a/${token}?b`, 'the path'],
    ['GET', `/a?b=${token}`, 'the query'],
    [token, '/', 'the method'],
    ['GET', '/', null],
  ] as const)
    equal(placeInLine({ method, target }), place)
  for (const [name, value, mayBear, place] of [
    ['X-Api-Key', token, false, 'the header x-api-key'],
    ['Authorization', `Bearer ${token}`, false, 'the header authorization'],
    ['Authorization', `Bearer ${token}`, true, null],
    ['Authorization', `Token ${token}`, true, 'the header authorization'],
    [`X-${token}`, '', true, 'the name of a header'],
    ['X'.repeat(70), token, false, `the header ${'x'.repeat(64)}`],
    ['X-Api-Key', 'svct_', false, null],
  ] as const)
    equal(placeInField(name, value, mayBear), place)
})
