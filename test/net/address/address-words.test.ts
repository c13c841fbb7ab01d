import assert from 'node:assert/strict'
import { isIP, isIPv4 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalAddress } from '../../../src/net/address/address.ts'
import { AddressWords } from '../../../src/net/address/address-words.ts'

const address = new AddressWords()

const read = (text: string) => (address.read(text) ? [...address.words].slice(0, address.isV4 ? 1 : 4) : null)

test('an address is read into its words', () => {
  assert.deepEqual(read('192.0.2.255'), [0xc00002ff])
  assert.deepEqual(read('2001:DB8::1'), [0x20010db8, 0, 0, 1])
  assert.deepEqual(read('::'), [0, 0, 0, 0])
  assert.deepEqual(read('1:2:3:4:5:6:7::'), [0x10002, 0x30004, 0x50006, 0x70000])
  assert.deepEqual(read('64:ff9b::192.0.2.1'), [0x64ff9b, 0, 0, 0xc0000201])
})

test('an IPv6-mapped address is the IPv4 address that it stands for', () => {
  for (const spelling of ['::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1']) {
    assert.deepEqual(read(spelling), [0xc0000201], spelling)
    assert.ok(address.isMapped)
  }
  assert.deepEqual(read('192.0.2.1'), [0xc0000201])
  assert.ok(!address.isMapped)
})

test('exactly the texts that node:net accepts are read as addresses', () => {
  const piece = fc.constantFrom(
    '::',
    ':',
    '.',
    '0',
    '1',
    'ffff',
    '00',
    '256',
    '255',
    'G',
    '%',
    ' ',
    '10.0.0.1',
  )
  const junk = fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join(''))
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), junk, fc.string()), text => {
      // Zone ids are left to those who read what a socket says.
      assert.equal(read(text) !== null, isIP(text) !== 0 && !text.includes('%'))
    }),
    { numRuns: 2_000 },
  )
})

test('all spellings of an address have the words of its canonical one', () => {
  fc.assert(
    fc.property(fc.ipV6(), text => {
      const canonical = canonicalAddress(text)!
      assert.deepEqual(read(text), read(canonical))
      assert.equal(address.isV4, isIPv4(canonical))
    }),
  )
})
