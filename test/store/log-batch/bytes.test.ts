import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LogBytes, member, power } from '../../../src/store/log-batch/bytes.ts'

const powers = [power(3), power(12)]

/** Reads back what was written between `open` and `close`. */
function read(bytes: LogBytes): unknown[] {
  return JSON.parse(`[${bytes.written().toString('utf8', 1)}]`)
}

const whole = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(0, 999_999_999, 1e9, 1e9 + 1, 2 ** 53 - 1))
const number = fc
  .oneof(
    whole,
    whole.map(count => count / 1e3),
    whole.map(count => count / 1e12),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  // JSON knows no other zero.
  .map(value => value + 0)

test('numbers come back as they were, however they are written', () => {
  fc.assert(
    fc.property(fc.array(fc.option(number)), numbers => {
      const bytes = new LogBytes()
      for (const value of numbers) {
        bytes.open()
        bytes.number(value)
        for (const power of powers) bytes.multiple(value, power)
        bytes.close()
      }
      assert.deepEqual(
        read(bytes),
        numbers.map(value => [value, value, value]),
      )
    }),
    { numRuns: 1000 },
  )
})

test('times and costs are short', () => {
  const bytes = new LogBytes()
  bytes.open()
  bytes.multiple(12.346, power(3))
  bytes.multiple(0.000015, power(12))
  bytes.close()
  assert.equal(bytes.written().toString(), ',\n[12346e-3,15000000e-12]')
})

test('there is room for what comes, and its memory is taken for the next', () => {
  const bytes = new LogBytes()
  const texts = Array.from({ length: 300 }, (_, i) => 'é'.repeat(i))
  for (const text of texts) {
    bytes.open()
    bytes.json(text)
    bytes.copy(member('{"a":1}'))
    bytes.number(1)
    bytes.close()
  }
  assert.deepEqual(
    read(bytes),
    texts.map(text => [text, { a: 1 }, 1]),
  )
  const { weight } = bytes
  assert.ok(weight >= bytes.size)
  bytes.clear()
  assert.deepEqual([bytes.size, bytes.weight], [0, weight])
  assert.deepEqual(read(bytes), [])
})
