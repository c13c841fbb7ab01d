import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSecureContext } from 'node:tls'
import type { ClientOffer } from '../../src/tls/client-hello.ts'
import {
  assertFips,
  fipsCiphers,
  fipsGroups,
  fipsSignatures,
  hasFipsProvider,
  offersFips,
} from '../../src/tls/fips.ts'

const modern: ClientOffer = {
  suites: [0x1a1a, 0x1301, 0x1303, 0xc02b, 0xcca9],
  groups: [0x11ec, 29, 23],
  versions: [0x0304, 0x0303],
  isBound: true,
}

test('a client that knows approved suites and curves is led to them, whatever it prefers', () => {
  assert.equal(offersFips(modern), true)
  assert.equal(offersFips({ ...modern, groups: [24] }), true)
  assert.equal(offersFips({ ...modern, versions: [] }), true)
})

test('one that knows none of the version that it would get is not', () => {
  const others: readonly Partial<ClientOffer>[] = [
    { groups: [29, 0x11ec, 25] },
    { groups: [] },
    { suites: [0x1303, 0xc02b] },
    { suites: [0x1301], versions: [] },
    { suites: [0xcca9, 0x009c, 0xc023], versions: [0x0303] },
    { versions: [], isBound: false },
  ]
  for (const other of others) assert.equal(offersFips({ ...modern, ...other }), false, JSON.stringify(other))
})

test('OpenSSL knows all that is approved', () => {
  assert.ok(createSecureContext({ ciphers: fipsCiphers, ecdhCurve: fipsGroups, sigalgs: fipsSignatures }))
})

test('without the provider of OpenSSL, that is said', () => {
  assert.equal(hasFipsProvider(), false)
  assert.throws(assertFips, /^Error: tls\.fips requires OpenSSL's FIPS provider: /)
})
