import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isPublic, publicOrIn } from '../../../src/net/address/public-address.ts'

const special = [
  '0.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:10.0.0.1',
  '::ffff:a00:1',
  '::127.0.0.1',
  '64:ff9b::a00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:a00:1::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
]

const open = [
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2001:4860:4860::8888',
  '2606:4700::1',
  '2a00::1',
]

test('addresses that not every network routes to are not public', () => {
  for (const address of special) assert.equal(isPublic(address), false, address)
})

test('those around them are', () => {
  for (const address of open) assert.equal(isPublic(address), true, address)
})

test('an invalid address is not public', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      assert.equal(isPublic(`x${text}`), false)
    }),
  )
})

test('the spelling of an IPv4 address does not matter', () => {
  fc.assert(
    fc.property(fc.ipV4(), address => {
      assert.equal(isPublic(`::ffff:${address}`), isPublic(address))
    }),
  )
})

test('further networks are allowed beside public addresses, however an address is written', () => {
  const isAllowed = publicOrIn(['10.20.0.0/16', 'fd00::/8'])
  for (const address of ['1.1.1.1', '10.20.3.4', '::ffff:10.20.3.4', 'fd00::1']) assert.ok(isAllowed(address))
  for (const address of ['10.21.0.1', '127.0.0.1', '::1', 'fe80::1', 'x']) assert.ok(!isAllowed(address))
})
