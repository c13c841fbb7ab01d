import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { connectionOptions } from '../../../src/http1/fields/connection-options.ts'

describe('connectionOptions', () => {
  const values = [
    ['keep-alive', ['keep-alive'], []],
    ['Keep-Alive', ['keep-alive'], []],
    ['CLOSE', ['close'], []],
    ['Upgrade', ['upgrade'], []],
    ['keep-alive, Upgrade', ['keep-alive', 'upgrade'], []],
    ['keep-alive\t,close', ['close', 'keep-alive'], []],
    ['X-A, close, x-b, X-a', ['close'], ['x-a', 'x-b']],
    ['te', [], ['te']],
    ['', [], []],
    [' , ,', [], []],
    ['closed', [], ['closed']],
    ['not a token', [], ['not a token']],
    ['\xa0close', [], ['\xa0close']],
    ['__proto__', [], ['__proto__']],
  ] as const
  for (const [value, options, names] of values)
    test(`reads "${value}"`, () => deepEqual(read(value), [...options, ...names]))

  test('reads nothing in no field', () => deepEqual(read(null), []))

  test('names no fields where there are none', () => {
    equal(connectionOptions('keep-alive, close, ')!.hopByHop, null)
  })

  test('finds every option of a list, however it is written', () => {
    const option = fc.constantFrom('close', 'Keep-Alive', 'UPGRADE', 'X-A', 'x-b')
    const comma = fc.constantFrom(',', ', ', ' ,\t', ',,')
    fc.assert(
      fc.property(fc.array(option, { minLength: 1 }), comma, (options, comma) => {
        const expected = new Set(options.map(option => option.toLowerCase()))
        deepEqual(new Set(read(options.join(comma))), expected)
      }),
    )
  })
})

test('more options than anybody means are not read', () => {
  equal(connectionOptions(`${'a,'.repeat(512)}a`), null)
  deepEqual(read('a,'.repeat(512)), ['a'])
})

/** Gives the known options in the order of the alphabet, then the names. */
function read(value: string | null): string[] {
  const { close, keepAlive, upgrade, hopByHop } = connectionOptions(value)!
  const known = { close, 'keep-alive': keepAlive, upgrade }
  return [...Object.entries(known).flatMap(([name, isSet]) => (isSet ? [name] : [])), ...(hopByHop ?? [])]
}
