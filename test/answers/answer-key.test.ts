import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../help/any-text.ts'
import { thorough } from '../help/thorough.ts'
import { answerKey, type KeyPart } from '../../src/answers/answer-key.ts'

const secret = Buffer.alloc(32, 1)

const digits = fc.string({ unit: fc.constantFrom('0', '1', '2', ':', ';', '~', 'a', '\u{d800}', '\u{fffd}') })
const part: fc.Arbitrary<KeyPart> = fc.oneof(digits, fc.string({ unit: anyCharacter }), fc.constant(null))
const call = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  bodies: fc.array(digits, { maxLength: 2 }),
})
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never

const keyOf = ({ parts, bodies }: Call, key = secret) =>
  answerKey(
    key,
    parts,
    bodies.map(body => Buffer.from(body)),
  )
/** Bodies are bytes: different halves of characters are the same there. */
const textOf = ({ parts, bodies }: Call) =>
  JSON.stringify([parts, bodies.map(body => Buffer.from(body).toString('hex'))])

test('the same call has the same key, and any other call another one', () => {
  fc.assert(
    fc.property(call, call, (one, other) => {
      assert.match(keyOf(one), /^[\w-]{43}$/)
      assert.equal(keyOf(one), keyOf(structuredClone(one)))
      return (keyOf(one) === keyOf(other)) === (textOf(one) === textOf(other))
    }),
    { numRuns: thorough(5_000, 1_000) },
  )
})

test('no text moves between neighbouring parts, into a body or out of it', () => {
  fc.assert(
    fc.property(fc.array(digits, { minLength: 2, maxLength: 5 }), fc.nat(), fc.nat(), (texts, at, cut) => {
      const [i, joined] = [at % (texts.length - 1), texts.slice()]
      const text = texts[i]! + texts[i + 1]!
      const border = cut % (text.length + 1)
      joined.splice(i, 2, text.slice(0, border), text.slice(border))
      const [one, other] = [texts, joined].map(parts => ({ parts, bodies: [] }))
      assert.equal(keyOf(one!) === keyOf(other!), textOf(one!) === textOf(other!))
      const [last, ...rest] = texts.toReversed()
      const inBody = { parts: rest.toReversed(), bodies: [last!] }
      assert.notEqual(keyOf(one!), keyOf(inBody))
    }),
    { numRuns: thorough(5_000, 1_000) },
  )
})

test('another secret key has other keys', () => {
  const some = { parts: ['a', null], bodies: ['b'] }
  assert.notEqual(keyOf(some), keyOf(some, Buffer.alloc(32, 2)))
})

test('keys stay as they are, as a new version goes on with the responses of the one before', () => {
  const call = { parts: ['a', null, 'é'], bodies: ['ab', 'c'] }
  assert.equal(keyOf(call, Buffer.alloc(32, 7)), '1lud5vBErTSq0rQYCSrthek2UhVXXzWDXJWky2fTqZ8')
})
