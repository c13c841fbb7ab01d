import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalAddress } from '../../../src/net/address/address.ts'
import { clientKey, networkKey } from '../../../src/net/address/client-key.ts'

test('an IPv4 address is a client, and so are the first 64 bits of IPv6', () => {
  const keys: readonly [address: string, key: string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['0:0:0:1::1', '0:0:0:1::/64'],
    ['::1', '::/64'],
    ['', ''],
    ['/run/socket:1', '/run/socket:1'],
  ]
  for (const [address, key] of keys) {
    assert.equal(clientKey(address), key, address)
    assert.equal(clientKey(address), key, address)
  }
})

test('all addresses of a /64 have its key, in the one spelling of RFC 5952', () => {
  const word = fc.integer({ min: 0, max: 0xffff })
  const half = fc.tuple(word, word, word, word)
  const text = (groups: readonly number[]) => groups.map(group => group.toString(16)).join(':')
  fc.assert(
    fc.property(half, half, half, (network, one, other) => {
      fc.pre(network.some(group => group !== 0)) // IPv6-mapped
      const key = clientKey(`${text(network)}:${text(one)}`)
      assert.equal(clientKey(`${text(network)}:${text(other)}`), key)
      assert.equal(key, `${canonicalAddress(`${text(network)}::`)}/64`)
    }),
  )
})

test('an IPv4 address is a network of its own, and of IPv6 the first 48 bits are one, also of a key of a client', () => {
  const keys: readonly [address: string, key: string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2::1', '2001:db8:1::/48'],
    ['2001:db8:1:ffff:1::', '2001:db8:1::/48'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8::/48'],
    ['2001:db8::/64', '2001:db8::/48'],
    ['::1', '::/48'],
    ['', ''],
    ['/run/socket:1', '/run/socket:1'],
  ]
  for (const [address, key] of keys) assert.equal(networkKey(address), key, address)
})
