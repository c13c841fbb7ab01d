import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Answer, openAnswer, sealAnswer } from '../../src/answers/answer.ts'

const secret = Buffer.alloc(32, 1)

const answer: Answer = {
  head: {
    ...{ status: 200, reason: 'OK', fields: ['Content-Type', 'application/json'] },
    ...{ contentType: 'application/json', isEventStream: false, isEncoded: false },
  },
  use: { tokensIn: 9, tokensOut: null, cost: 0.1 },
  storedAt: 1,
  expiresAt: 2,
  body: Buffer.from('{"a":1}'),
}

test('a sealed response opens as it was, under its own key and secret alone', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
      const body = Buffer.from(bytes)
      const sealed = sealAnswer(secret, 'key', { ...answer, body })
      assert.deepEqual(openAnswer(secret, 'key', sealed), { ...answer, body })
      assert.equal(openAnswer(secret, 'kez', sealed), null)
      assert.equal(openAnswer(Buffer.alloc(32, 2), 'key', sealed), null)
    }),
  )
})

test('nothing of a response can be read or changed at rest', () => {
  const sealed = sealAnswer(secret, 'key', answer)
  assert.ok(!sealed.includes('{"a":1}') && !sealed.includes('application/json'))
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed[at]! ^= 1
    assert.equal(openAnswer(secret, 'key', changed), null)
    assert.equal(openAnswer(secret, 'key', sealed.subarray(0, at)), null)
  }
  assert.equal(openAnswer(secret, 'key', randomBytes(100)), null)
})

const sealedBefore = [
  'wePK0uo0JDdweznsbA17oPY7WhalMS7ZIa3ThlVIw4pFwq6Bk0lBDoFZ4lgPH87YCXNbXEJFTR7hsxv9NZe0',
  'cA2HBlu/NeDgUrDhxZp8qscHAj6YL0uEaEOHfxeO1wBzVx8nmemnBwrHoQfausz3WGHUmN91fkIYVv/g3bUz',
  'SpVUTurat8MVKlD+pKDgvm1vGsQ8MDxJF+hkiH7DyTSe2eiIj+uk72VZ9sV1QILgaFU7BUiMqK9/Hho7H+Zl',
  'yu4tVMHdvBeTtJeLtVNAaCj2gF02iFOTH2tF0wW9fBkSDTVAbBQ=',
].join('')

test('a response that an earlier version sealed opens', () => {
  const { storedAt, body } = openAnswer(Buffer.alloc(32, 7), 'key', Buffer.from(sealedBefore, 'base64'))!
  assert.deepEqual([storedAt, body.toString()], [3, 'hello'])
})
