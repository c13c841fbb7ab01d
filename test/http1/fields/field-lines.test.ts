import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  endOfHead,
  mayContinue,
  parseContentLength,
  readFieldLines,
} from '../../../src/http1/fields/field-lines.ts'

describe('endOfHead', () => {
  test('points behind the empty line', () => {
    equal(endOfHead(latin1('GET / HTTP/1.1\r\n\r\nbody'), 0), 18)
  })

  test('looks from the given place on', () => {
    equal(endOfHead(latin1('A\r\n\r\nB\r\n\r\n'), 3), 10)
  })

  for (const text of ['', '\r\n', 'A\r\n', 'A\r\n\r', 'A\n\n', 'A\r\r\n\n', 'A\n\r\n'])
    test(`is not yet at an end in ${JSON.stringify(text)}`, () => equal(endOfHead(latin1(text), 0), -1))
})

describe('mayContinue', () => {
  for (const text of [
    '',
    'G',
    'GET / HTTP/1.1\r',
    'GET / HTTP/1.1\r\n',
    'A: b\r\nC',
    '\r',
    '\r\n',
    '\xff\x01',
  ])
    test(`waits for the rest of ${JSON.stringify(text)}`, () => equal(mayContinue(latin1(text), 0), true))

  const hopeless = [
    ['a bare LF', 'GET / HTTP/1.1\nHost: a'],
    ['a LF as the first byte', '\nGET'],
    ['two LF behind one CR', 'GET / HTTP/1.1\r\n\n'],
    ['a bare CR', 'GET / HTTP/1.1\rHost: a'],
    ['two CR', 'GET / HTTP/1.1\r\r'],
    ['a NUL', 'GET / HTTP/1.1\r\nA: \0'],
  ] as const
  for (const [hole, text] of hopeless)
    test(`gives up at ${hole}`, () => equal(mayContinue(latin1(text), 0), false))

  test('sees the CR in front of the place where it begins', () => {
    equal(mayContinue(latin1('A: b\r\n'), 5), true)
    equal(mayContinue(latin1('A: bc\n'), 5), false)
    equal(mayContinue(latin1('A: b\rc'), 4), false)
  })
})

describe('readFieldLines', () => {
  const good = [
    ['', []],
    ['A: b\r\n', ['A', 'b']],
    ['A:b\r\n', ['A', 'b']],
    ['A: \t b c \t \r\n', ['A', 'b c']],
    ['A:\r\n', ['A', '']],
    ['A: \t \r\n', ['A', '']],
    ['A: b:c, "d:e"\r\n', ['A', 'b:c, "d:e"']],
    ['A: 1\r\na: 2\r\nA: 3\r\n', ['A', '1', 'a', '2', 'A', '3']],
    ["!#$%&'*+-.^_`|~09azAZ: x\r\n", ["!#$%&'*+-.^_`|~09azAZ", 'x']],
    ['A: \xe4\x80\xff\r\n', ['A', '\xe4\x80\xff']],
    ['__proto__: x\r\n', ['__proto__', 'x']],
  ] as const
  for (const [text, fields] of good)
    test(`reads ${JSON.stringify(text)}`, () => deepEqual(read(text), [...fields]))

  const refused = [
    ['a folded line', 'A: b\r\n c\r\n'],
    ['a line folded with a tab', 'A: b\r\n\tc\r\n'],
    ['a fold before the first field', ' A: b\r\n'],
    ['a line of nothing but a space', 'A: b\r\n \r\n'],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\n'],
    ['a tab before the colon', 'Transfer-Encoding\t: chunked\r\n'],
    ['a space inside a name', 'X Y: a\r\n'],
    ['a nameless field', ': a\r\n'],
    ['a line without a colon', 'A\r\n'],
    ['a bare LF as line end', 'A: b\nC: d\r\n'],
    ['a bare LF inside a value', 'A: b\n\r\n'],
    ['a bare CR as line end', 'A: b\rC: d\r\n'],
    ['another byte in place of the CR', 'A: b\0\n'],
    ['another byte in place of the LF', 'A: b\rXC: d\r\n'],
    ['a CR before CRLF', 'A: b\r\r\n'],
    ['a NUL inside a value', 'A: b\0c\r\n'],
    ['a NUL inside a name', 'A\0: b\r\n'],
    ['a vertical tab before a value', 'Transfer-Encoding: \x0bchunked\r\n'],
    ['a form feed inside a value', 'A: b\x0cc\r\n'],
    ['DEL inside a value', 'A: b\x7f\r\n'],
    ['a byte beyond ASCII inside a name', 'X-\xe4: a\r\n'],
    ['a quoted name', '"A": b\r\n'],
    ['a bracket in a name', 'A[]: b\r\n'],
  ] as const
  for (const [hole, text] of refused) test(`refuses ${hole}`, () => equal(read(text), null))

  test('stops where its reader refuses a field', () => {
    const seen: string[] = []
    const reader = { field: (name: string) => seen.push(name) < 2 }
    const bytes = latin1('A: 1\r\nB: 2\r\nC: 3\r\n\r\n')
    equal(readFieldLines(bytes, bytes.toString('latin1'), 0, 0, bytes.length, reader), false)
    deepEqual(seen, ['A', 'B'])
  })

  test('reads from the middle of a buffer, and not beyond the end it was given', () => {
    const bytes = latin1('before A: b\r\n\r\nC: d\r\n\r\n')
    const fields: string[] = []
    const reader = { field: (name: string, value: string) => fields.push(name, value) > 0 }
    equal(readFieldLines(bytes, 'A: b\r\n\r\n', 7, 7, 15, reader), true)
    deepEqual(fields, ['A', 'b'])
  })

  test('wants the empty line where the end is', () => {
    const reader = { field: () => true }
    equal(readFieldLines(latin1('A: b\r\n'), 'A: b\r\n', 0, 0, 6, reader), false)
  })

  test('reads back whatever was written by the rules', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fieldName(), fieldValue())), lines => {
        const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        deepEqual(read(text), lines.flat())
      }),
    )
  })
})

describe('parseContentLength', () => {
  const lengths = [
    ['0', 0],
    ['5', 5],
    ['00042', 42],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ] as const
  for (const [value, length] of lengths)
    test(`reads ${value}`, () => equal(parseContentLength(value), length))

  const refused = [
    ['nothing', ''],
    ['a plus sign', '+5'],
    ['a minus sign', '-5'],
    ['minus nought', '-0'],
    ['a list of equal lengths', '5, 5'],
    ['a list of different lengths', '5,6'],
    ['a space inside', '1 2'],
    ['a space around', ' 5'],
    ['a fraction', '5.0'],
    ['an exponent', '1e3'],
    ['hexadecimal', '0x5'],
    ['digits with a separator', '1_000'],
    ['seventeen digits, though most are nought', '00000000000000005'],
    ['a quoted length', '"5"'],
    ['digits of another script', '\xb2'],
    ['the first length that rounds', '9007199254740992'],
    ['a length that overflows 64 bits to 5', '18446744073709551621'],
    ['a length that overflows 32 bits by far', '9'.repeat(100)],
  ] as const
  for (const [hole, value] of refused) test(`refuses ${hole}`, () => equal(parseContentLength(value), -1))

  test('reads every length that a number can hold exactly', () => {
    fc.assert(fc.property(fc.maxSafeNat(), length => equal(parseContentLength(String(length)), length)))
  })
})

function read(text: string): string[] | null {
  const bytes = latin1(`${text}\r\n`)
  const fields: string[] = []
  const reader = { field: (name: string, value: string) => fields.push(name, value) > 0 }
  const isGood = readFieldLines(bytes, bytes.toString('latin1'), 0, 0, bytes.length, reader)
  return isGood ? fields : null
}

function fieldName(): fc.Arbitrary<string> {
  return fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,20}$/)
}

function fieldValue(): fc.Arbitrary<string> {
  return fc.stringMatching(/^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/)
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
