import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relyingPartyAt } from '../../../src/people/passkeys/relying-party.ts'

test('passkeys sign for a name over https, or localhost', () => {
  for (const [origin, host] of [
    ['https://id.example.com', 'id.example.com'],
    ['https://id.example.com:8443', 'id.example.com'],
    ['http://localhost:8080', 'localhost'],
    ['http://gate.localhost', 'gate.localhost'],
  ] as const)
    assert.deepEqual(relyingPartyAt(origin), { origin, host })
  for (const [origin, why] of [
    ['http://127.0.0.1:8080', 'address'],
    ['https://192.0.2.7', 'address'],
    ['https://[2001:db8::1]:8443', 'address'],
    ['http://id.example.com', 'plain_http'],
    ['http://notlocalhost', 'plain_http'],
  ] as const)
    assert.equal(relyingPartyAt(origin), why)
})
