import assert from 'node:assert/strict'
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import type { ClientSecret } from '../../../src/store/records/oauth-client.ts'
import { anyCharacter } from '../../help/any-text.ts'

const [first, second] = [randomBytes(32), randomBytes(48)]

const secretOf = (keys: SecretKeys, value: string): ClientSecret => ({
  ...keys.digest(value),
  tail: value.slice(-4),
  createdAt: 0,
  lastUsedAt: null,
})

test('a digest matches its value and no other', () => {
  const keys = new SecretKeys(first)
  const secret = secretOf(keys, 'svcs_value')
  assert.match(secret.digest, /^[0-9a-f]{64}$/)
  assert.equal(keys.matches(secret, 'svcs_value'), true)
  for (const other of ['', 'svcs_valuE', 'svcs_value ', secret.digest])
    assert.equal(keys.matches(secret, other), false)
})

test('the same key gives the same digests wherever it is, and another key others', () => {
  const [here, there, elsewhere] = [new SecretKeys(first), new SecretKeys(first), new SecretKeys(second)]
  assert.deepEqual(here.digest('a'), there.digest('a'))
  assert.notEqual(here.digest('a').digest, elsewhere.digest('a').digest)
  assert.notEqual(here.currentId, elsewhere.currentId)
})

test('what was made stays good from release to release', () => {
  const keys = new SecretKeys(Buffer.alloc(32, 'golden'))
  const digest = '3659f04288fcce53dc3db08da9eb9d338047d8e313aaec7f983ff4fd1a71826c'
  assert.deepEqual(keys.digest('svcs_golden'), { digest, key: 'e47ddb51' })
  assert.equal(keys.unseal('pfHFlOlTwV33I7qTO60bFN69QKXOr83dHnZumyClk7w', 'context'), 'text')
})

test('an old key still checks and opens, and the current one makes', () => {
  const before = new SecretKeys(first)
  const after = new SecretKeys(second, [first])
  const secret = secretOf(before, 'a')
  assert.equal(after.matches(secret, 'a'), true)
  assert.equal(after.matches(secret, 'b'), false)
  assert.equal(after.unseal(before.seal('text', 'c'), 'c'), 'text')
  assert.equal(after.digest('a').key, after.currentId)
  assert.equal(after.currentId, new SecretKeys(second).currentId)
  assert.equal(new SecretKeys(second).unseal(after.seal('text', 'c'), 'c'), 'text')
  assert.deepEqual([after.knows(before.currentId), after.knows(after.currentId)], [true, true])
})

test('a key that is gone matches and opens nothing', () => {
  const [before, after] = [new SecretKeys(first), new SecretKeys(second)]
  assert.equal(after.matches(secretOf(before, 'a'), 'a'), false)
  assert.equal(after.unseal(before.seal('text', 'c'), 'c'), null)
  assert.equal(after.knows(before.currentId), false)
})

test('a digest of the current key under the name of an unknown one does not match', () => {
  const keys = new SecretKeys(first)
  assert.equal(keys.matches({ ...secretOf(keys, 'a'), key: '00000000' }, 'a'), false)
})

test('a seal is for its context', () => {
  const keys = new SecretKeys(first)
  assert.equal(keys.unseal(keys.seal('text', 'here'), 'there'), null)
})

test('a digest that was damaged matches nothing, and throws nothing', () => {
  const keys = new SecretKeys(first)
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (digest, value) =>
      assert.equal(keys.matches({ ...secretOf(keys, 'a'), digest }, value), false),
    ),
  )
})

test('the name of a key is 8 hex digits, and none that follow from it plainly', () => {
  const { currentId } = new SecretKeys(first)
  assert.match(currentId, /^[0-9a-f]{8}$/)
  const plain = [
    first.toString('hex'),
    createHash('sha256').update(first).digest('hex'),
    createHmac('sha256', first).update('').digest('hex'),
  ]
  for (const known of plain) assert.ok(!known.includes(currentId))
})

test('the shown form of a key contains no part of it', () => {
  const keys = new SecretKeys(first, [second])
  const shown = inspect(keys, { showHidden: true, depth: 9, getters: true }) + JSON.stringify(keys)
  for (const key of [first, second])
    for (const form of ['hex', 'base64', 'base64url'] as const)
      assert.ok(!shown.includes(key.toString(form).slice(0, 8)))
})

test('a key that is too short is refused', () => {
  const short = randomBytes(31)
  assert.throws(() => new SecretKeys(short), /at least 32 bytes/)
  assert.throws(() => new SecretKeys(first, [short]), /at least 32 bytes/)
})
