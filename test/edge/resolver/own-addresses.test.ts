import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { isOwn } from '../../../src/edge/resolver/own-addresses.ts'

const cards = Object.values(networkInterfaces()).flatMap(card => card ?? [])
const local4 = cards.filter(({ family }) => family === 'IPv4').map(({ address }) => address)
const local6 = cards.filter(({ family }) => family === 'IPv6').map(({ address }) => address)

const listenAt = (host: string) => [{ host, port: 8080 }]

test('a listener is recognised at its address and port, in any spelling, and nowhere else', () => {
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0.0.0.0'])
    assert.equal(isOwn(address, 8080, listenAt('127.0.0.1')), true, address)
  for (const address of ['127.0.0.2', '::1', '192.0.2.77', '::'])
    assert.equal(isOwn(address, 8080, listenAt('127.0.0.1')), false, address)
  assert.equal(isOwn('127.0.0.1', 8081, listenAt('127.0.0.1')), false)
  assert.equal(isOwn('0:0:0:0:0:0:0:1', 8080, listenAt('::1')), true)
  assert.equal(isOwn('::', 8080, listenAt('::1')), true)
  assert.equal(isOwn('127.0.0.1', 8080, []), false)
})

test('a listener on every address of IPv4 is met on each of this machine', () => {
  for (const address of [...local4, '127.0.0.1', '127.1.2.3', '0.0.0.0'])
    assert.equal(isOwn(address, 8080, listenAt('0.0.0.0')), true, address)
  for (const address of [...local6, '::1', '203.0.113.9'])
    assert.equal(isOwn(address, 8080, listenAt('0.0.0.0')), false, address)
})

test('a listener on every address, or on a name, is met on each of both families', () => {
  for (const host of ['::', 'gateway.internal'])
    for (const address of [...local4, ...local6, '127.0.0.1', '::1', '0.0.0.0', '::'])
      assert.equal(isOwn(address, 8080, listenAt(host)), true, `${address} at ${host}`)
  assert.equal(isOwn('203.0.113.9', 8080, listenAt('::')), false)
})

test('the scope of an address makes no other address of it', () => {
  const scoped = local6.map(address => `${address}%eth0`)
  for (const host of ['::', 'gateway.internal'])
    for (const address of [...scoped, '::1%lo'])
      assert.equal(isOwn(address, 8080, listenAt(host)), true, address)
  assert.equal(isOwn('fe80::77%eth0', 8080, listenAt('fe80::77')), true)
  assert.equal(isOwn('fe80::77', 8080, listenAt('fe80::77%eth0')), true)
  assert.equal(isOwn('fe80::77%eth0', 8080, listenAt('fe80::78')), false)
})

test('an invalid address matches no listener', () => {
  for (const text of ['', 'localhost', '127.1']) assert.equal(isOwn(text, 8080, listenAt('::')), false, text)
})
