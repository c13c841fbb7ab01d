import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sealKey, unsealKey } from '../../../src/ai/providers/key-seal.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'

const place = {
  gateway: { account: 'a'.repeat(32), id: 'default' },
  key: { id: '1', provider: 'custom-lab' },
  url: 'https://llm.example/v1',
}

test('a sealed key opens where it was made, and shows nothing of itself', () => {
  const secrets = new SecretKeys(randomBytes(32))
  const sealed = sealKey(secrets, 'sk-lab-0123456789', place)
  assert.doesNotMatch(sealed, /sk-lab/)
  assert.equal(unsealKey(secrets, sealed, place), 'sk-lab-0123456789')
  assert.equal(unsealKey(new SecretKeys(randomBytes(32)), sealed, place), null)
})

test('a sealed key does not open for another account, gateway, key, provider or address', () => {
  const secrets = new SecretKeys(randomBytes(32))
  const sealed = sealKey(secrets, 'sk-lab-0123456789', place)
  const others = [
    { ...place, gateway: { ...place.gateway, account: 'b'.repeat(32) } },
    { ...place, gateway: { ...place.gateway, id: 'other' } },
    { ...place, key: { ...place.key, id: '2' } },
    { ...place, key: { ...place.key, provider: 'openai' } },
    { ...place, url: 'https://other.example/v1' },
  ]
  for (const other of others) assert.equal(unsealKey(secrets, sealed, other), null, JSON.stringify(other))
})
