import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseNetwork } from '../../../src/net/address/address.ts'
import { AddressTable, AddressTableBuilder } from '../../../src/net/address/address-table.ts'
import { AddressWords } from '../../../src/net/address/address-words.ts'
import { inSlices } from '../../../src/base/turns/slices.ts'
import { longestStall } from '../../help/stall.ts'

const words = new AddressWords()

function find(table: AddressTable, address: string): string {
  assert.ok(words.read(address))
  return table.find(words)
}

describe('a table of addresses', () => {
  const table = AddressTable.of(['10.0.0.0/8', '192.0.2.1', '10.1.2.3', 'fd00::/8', '2001:db8::1'])

  test('tells a single address from a network, and the network wins', () => {
    assert.equal(find(table, '192.0.2.1'), 'address')
    assert.equal(find(table, '2001:db8::1'), 'address')
    assert.equal(find(table, '10.1.2.3'), 'network')
    assert.equal(find(table, 'fd12::1'), 'network')
    for (const other of ['192.0.2.0', '11.0.0.0', '9.255.255.255', 'fe00::', '2001:db8::2', '::'])
      assert.equal(find(table, other), 'nothing', other)
  })

  test('finds an IPv4 address in its mapped spelling, on both sides', () => {
    assert.equal(find(table, '::ffff:10.1.2.3'), 'network')
    assert.equal(find(AddressTable.of(['::ffff:10.0.0.0/104']), '10.9.9.9'), 'network')
  })

  test('holds all of a family under /0, and nothing when it is empty', () => {
    assert.equal(find(AddressTable.of(['0.0.0.0/0']), '255.255.255.255'), 'network')
    assert.equal(find(AddressTable.of(['0.0.0.0/0']), '::1'), 'nothing')
    assert.equal(find(AddressTable.of(['::/0']), 'ffff::'), 'network')
    assert.equal(find(AddressTable.of([]), '0.0.0.0'), 'nothing')
  })

  test('needs no row for what is there twice or within another', () => {
    assert.equal(AddressTable.of(['10.0.0.1', '10.0.0.0/8', '10.0.0.1', '10.2.0.0/16', '10.0.0.7/8']).size, 1)
  })

  test('throws at a member that is no address', () => {
    assert.throws(() => AddressTable.of(['10.0.0.0/33']), TypeError)
  })

  test('takes what parseNetwork takes, and nothing else', () => {
    const prefix = fc.oneof(
      fc.integer({ min: -2, max: 140 }).map(String),
      fc.constantFrom('', '08', '8/8', 'x'),
    )
    const mapped = fc.ipV4().map(address => `::ffff:${address}`)
    const member = fc
      .tuple(fc.oneof(fc.ipV4(), fc.ipV6(), mapped, fc.string()), fc.option(prefix))
      .map(([address, length]) => (length === null ? address : `${address}/${length}`))
    fc.assert(
      fc.property(member, text => {
        assert.equal(new AddressTableBuilder().add(text), parseNetwork(text) !== null)
      }),
      { numRuns: 1_000 },
    )
  })
})

test('a table agrees with node:net on any networks and addresses, those at their borders above all', async () => {
  // Few different bits, so that networks lie in one another and addresses in networks.
  const byte = fc.constantFrom(0, 1, 127, 128, 255)
  const v4 = fc.tuple(fc.constantFrom(10, 11), byte, byte, byte).map(bytes => bytes.join('.'))
  const group = fc.constantFrom('0', '1', '7fff', '8000', 'ffff')
  const v6 = fc
    .tuple(fc.constantFrom('2001', '2002'), ...Array.from({ length: 7 }, () => group))
    .map(groups => groups.join(':'))
  const network = fc.oneof(
    fc.tuple(v4, fc.integer({ min: 0, max: 32 })),
    fc.tuple(v6, fc.integer({ min: 0, max: 128 })),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(network, { maxLength: 40 }),
      fc.array(fc.oneof(v4, v6), { minLength: 20, maxLength: 60 }),
      async (networks, addresses) => {
        const builder = new AddressTableBuilder()
        // One for each family: all of IPv6 is not IPv4 too, which node:net thinks.
        const models = { ipv4: new BlockList(), ipv6: new BlockList() }
        for (const [address, prefix] of networks) {
          assert.ok(builder.add(`${address}/${prefix}`))
          models[familyOf(address)].addSubnet(address, prefix, familyOf(address))
        }
        const table = await inSlices(builder.build())
        for (const address of [...addresses, ...networks.map(([first]) => first)]) {
          const isHeld = models[familyOf(address)].check(address, familyOf(address))
          assert.equal(find(table, address) !== 'nothing', isHeld, address)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('a million networks are sorted in steps that leave time for others', async () => {
  const builder = new AddressTableBuilder()
  // A multiplier without a common factor with 2^32: no two are equal, and they come in no order.
  for (let i = 0; i < 1_000_000; i++) {
    const address = Math.imul(i, 2_654_435_761) >>> 0
    builder.add([24, 16, 8, 0].map(shift => (address >>> shift) & 255).join('.'))
  }
  const { result: table, longest } = await longestStall(() => inSlices(builder.build()))
  assert.equal(table.size, 1_000_000)
  // Some 8 ms on a machine with nothing else to do; all at once they take half a second.
  assert.ok(longest < 150, `${longest} ms`)
})

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}
