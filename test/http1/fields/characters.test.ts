import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hexValue, isFieldByte, isTokenByte } from '../../../src/http1/fields/characters.ts'
import { isTargetByte } from '../../../src/http1/heads/target-bytes.ts'

const allBytes = Array.from({ length: 256 }, (_, byte) => byte)

describe('isTokenByte', () => {
  test('holds for the tchars of RFC 9110 and for nothing else', () => {
    const tchars = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    equal(marked(isTokenByte), [...tchars].sort().join(''))
  })
})

describe('isFieldByte', () => {
  test('holds for all bytes but the control characters, of which only HTAB may stand in a value', () => {
    const refused = allBytes.filter(byte => isFieldByte[byte] !== 1)
    deepEqual(refused, [...allBytes.slice(0, 0x20).filter(byte => byte !== 0x09), 0x7f])
  })
})

describe('isTargetByte', () => {
  test('holds for what clients send raw and origins take', () => {
    for (const byte of Buffer.from('/?&=%;:@[]{}|\\^`"<>\'\xe4\xff', 'latin1')) equal(isTargetByte[byte], 1)
  })

  test('does not hold for white space, control characters and the mark of a fragment', () => {
    const refused = allBytes.filter(byte => isTargetByte[byte] !== 1)
    deepEqual(refused, [...allBytes.slice(0, 0x21), 0x23, 0x7f])
  })
})

describe('hexValue', () => {
  test('knows the sixteen digits in both cases and no other byte', () => {
    equal(marked(hexValue.map(value => (value === 255 ? 0 : 1))), '0123456789ABCDEFabcdef')
    for (const digit of '0123456789abcdefABCDEF')
      equal(hexValue[digit.charCodeAt(0)], Number.parseInt(digit, 16))
  })
})

function marked(table: Uint8Array): string {
  return String.fromCharCode(...allBytes.filter(byte => table[byte] === 1))
}
