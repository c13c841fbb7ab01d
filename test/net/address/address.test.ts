import { deepEqual, equal, throws } from 'node:assert/strict'
import { isIP } from 'node:net'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { AddressSet, believedHops, canonicalAddress, parseNetwork } from '../../../src/net/address/address.ts'

describe('canonicalAddress', () => {
  const spellings = [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['192.0.2.01', null],
    ['127.1', null],
    ['[::1]', null],
    ['', null],
  ] as const
  for (const [written, canonical] of spellings) {
    test(`reads "${written}" as ${canonical}`, () => equal(canonicalAddress(written), canonical))
  }
})

describe('parseNetwork', () => {
  test('reads addresses and networks of both families', () => {
    deepEqual(parseNetwork('10.0.0.0/8'), { address: '10.0.0.0', prefix: 8, family: 'ipv4' })
    deepEqual(parseNetwork('192.0.2.1'), { address: '192.0.2.1', prefix: 32, family: 'ipv4' })
    deepEqual(parseNetwork('2001:DB8::/32'), { address: '2001:db8::', prefix: 32, family: 'ipv6' })
    deepEqual(parseNetwork('::/0'), { address: '::', prefix: 0, family: 'ipv6' })
  })

  test('reads a mapped network as the IPv4 network it stands for', () => {
    deepEqual(parseNetwork('::ffff:10.0.0.0/104'), { address: '10.0.0.0', prefix: 8, family: 'ipv4' })
  })

  for (const junk of [
    '',
    '/',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '::/129',
    '::ffff:10.0.0.0/95',
    'fe80::1%eth0',
    'localhost',
    '10.0.0.0/-1',
  ]) {
    test(`refuses "${junk}"`, () => equal(parseNetwork(junk), null))
  }
})

describe('AddressSet', () => {
  const set = new AddressSet(['10.0.0.0/8', '192.0.2.1', 'fd00::/8'])

  test('holds what its members cover', () => {
    for (const address of ['10.255.0.1', '192.0.2.1', 'fd12::1', 'fd12::1%eth0'])
      equal(set.has(address), true, address)
    for (const address of ['11.0.0.1', '192.0.2.2', 'fe80::1', '', 'junk'])
      equal(set.has(address), false, address)
  })

  test('finds an IPv4 address under its mapped spelling', () => {
    equal(set.has('::ffff:10.1.2.3'), true)
    equal(set.has('::ffff:b00:1'), false)
  })

  test('throws at a member that is no address', () => {
    throws(() => new AddressSet(['10.0.0.0/99']), TypeError)
  })

  test('agrees with arithmetic on every IPv4 network', () => {
    const word = fc.integer({ min: 0, max: 0xffffffff })
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 32 }), (base, other, prefix) => {
        const covered = prefix === 0 || base >>> (32 - prefix) === other >>> (32 - prefix)
        equal(new AddressSet([`${dotted(base)}/${prefix}`]).has(dotted(other)), covered)
      }),
    )
  })
})

describe('believedHops', () => {
  const trusted = new AddressSet(['10.0.0.0/8', '::1'])
  const walks = [
    ['an untrusted peer, whatever it claims', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a trusted peer without the field', '10.0.0.1', null, '10.0.0.1'],
    ['a trusted peer with an empty field', '10.0.0.1', ' , ', '10.0.0.1'],
    ['the hop that a trusted peer names', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['the rightmost hop that is not trusted', '10.0.0.1', '6.6.6.6, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['the leftmost hop when all are trusted', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['the last good hop before junk', '10.0.0.1', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['the peer when the first hop is junk', '10.0.0.1', '198.51.100.1, _hidden', '10.0.0.1'],
    ['a mapped peer as IPv4', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a hop with a port', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['a hop with an obfuscated port', '10.0.0.1', '198.51.100.1:_a.b-c', '198.51.100.1'],
    ['a hop in brackets with an obfuscated port', '10.0.0.1', '[2001:db8::1]:_x', '2001:db8::1'],
    ['the peer where a port is neither', '10.0.0.1', '198.51.100.1:x', '10.0.0.1'],
    ['a hop in brackets', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['a hop in brackets with a port', '::1', '[2001:DB8::1]:443', '2001:db8::1'],
    ['a hop with a zone id', '::1', 'fe80::1%eth0', 'fe80::1'],
    ['the peer when the brackets are wrong', '::1', '[198.51.100.1]', '::1'],
    ['empty members skipped', '10.0.0.1', '198.51.100.1, , 10.0.0.2,', '198.51.100.1'],
    ['a peer that is no address, such as that of a closed socket', '', '198.51.100.1', ''],
  ] as const
  for (const [name, peer, forwardedFor, client] of walks) {
    test(`ends with ${name}`, () => equal(believedHops(peer, forwardedFor, trusted).at(-1), client))
  }

  test('ends where more hops are named than any request has', () => {
    equal(believedHops('10.0.0.1', Array(5_000).fill('10.0.0.2').join(), trusted).length, 101)
    deepEqual(believedHops('10.0.0.1', `6.6.6.6${','.repeat(5_000)}`, trusted), ['10.0.0.1'])
  })

  test('begins with the peer, and goes on from hop to hop', () => {
    const hops = believedHops('10.0.0.1', '6.6.6.6, 198.51.100.1:80, 10.0.0.3, , [::1]:1', trusted)
    deepEqual(hops, ['10.0.0.1', '::1', '10.0.0.3', '198.51.100.1'])
  })

  test('has IP addresses for any field', () => {
    const member = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string(),
      fc.constantFrom('10.0.0.2', '[::1]:1', ',', '::1'),
    )
    fc.assert(
      fc.property(fc.array(member), members => {
        for (const hop of believedHops('10.0.0.1', members.join(','), trusted)) equal(isIP(hop) > 0, true)
      }),
    )
  })
})

function dotted(word: number): string {
  return [24, 16, 8, 0].map(shift => (word >>> shift) & 255).join('.')
}
