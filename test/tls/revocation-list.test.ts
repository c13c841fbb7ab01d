import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readRevocationList } from '../../src/tls/revocation-list.ts'
import { Authority } from '../help/certificates.ts'
import { root } from '../help/source.ts'

const day = 86_400_000

test('a revocation list says whose it is, and from when until when it counts', () => {
  const authority = new Authority('Clients of the shop')
  authority.revoke(authority.issue([]))
  const { issuer, thisUpdate, nextUpdate } = readRevocationList(authority.revocationList(7))
  assert.equal(issuer, 'Clients of the shop')
  assert.equal(nextUpdate - thisUpdate, 7 * day)
  assert.ok(Math.abs(thisUpdate - Date.now()) < 60_000)
  const old = readRevocationList(authority.revocationList(-3))
  assert.ok(Math.abs(old.nextUpdate - Date.now() + 3 * day) < 60_000)
})

test('times beyond 2049 are read too', () => {
  const pem = readFileSync(join(root, 'test/golden/config/files/clients.crl'), 'utf8')
  const { issuer, nextUpdate } = readRevocationList(pem)
  assert.equal(issuer, 'Clients')
  assert.ok(nextUpdate > Date.UTC(2100), new Date(nextUpdate).toISOString())
})
