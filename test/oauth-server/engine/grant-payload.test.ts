import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReference, writeReference } from '../../../src/oauth-server/engine/grant-payload.ts'
import { everybody } from '../../../src/store/records/people.ts'

const [account, grant, family] = ['a'.repeat(32), 'b'.repeat(32), 'c'.repeat(32)]

test('a reference is read as it was written, for an account and for none', () => {
  for (const reference of [
    { account, grant, family },
    { account: everybody, grant, family },
  ])
    assert.deepEqual(readReference(writeReference(reference)), reference)
})

test('anything else is no reference', () => {
  for (const text of [
    undefined,
    '',
    `${account}.${grant}`,
    `${account}.${grant}.${family}.`,
    `${account}.${grant}.${family.slice(1)}`,
    `${account}.${grant.toUpperCase()}.${family}`,
    `.${grant}.${family}`,
  ])
    assert.equal(readReference(text), null, `${text}`)
})
