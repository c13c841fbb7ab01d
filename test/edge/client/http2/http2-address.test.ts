// The pace of an address over HTTP/2: free where few responses wait for the client, the slower the more of them there are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Http2Addresses } from '../../../../src/edge/client/http2/http2-address.ts'
import { workOfRequest } from '../../../../src/http2/frames/turn-work.ts'

function join(isTrusted = false) {
  return new Http2Addresses().join('192.0.2.1', isTrusted)
}

/** Returns the ms that a request costs an address with so many stalled ones. */
function delayWith(stalled: number, isTrusted = false): number {
  const address = join(isTrusted)
  address.stalledRequests = stalled
  address.charge(workOfRequest)
  return address.delay
}

test('an address with no more stalled requests than one connection may have has no pace', () => {
  assert.equal(delayWith(0), 0)
  assert.equal(delayWith(128), 0)
})

test('the more requests are stalled, the longer others wait, up to a bound', () => {
  // A delay is what is left of it, so that each is less by the time that the test takes.
  const hundred = 100 * workOfRequest
  const of = (stalled: number) => {
    const address = join()
    address.stalledRequests = stalled
    const before = performance.now()
    address.charge(hundred)
    return address.delay + performance.now() - before
  }
  const [few, some, many, more] = [of(256), of(512), of(1_024), of(10_000)]
  assert.ok(few >= 25 && some >= 100 && many >= 400 && more >= 400)
  assert.ok(few < some && some < many)
  assert.ok(more < 2 * many)
})

test('delays too short for a timer are skipped, and added to later ones', () => {
  const address = join()
  address.stalledRequests = 256
  address.charge(workOfRequest)
  assert.equal(address.delay, 0)
  for (let i = 0; i < 100; i++) address.charge(workOfRequest)
  assert.ok(address.delay > 10)
})

test('what is done adds up, and is over as soon as few are stalled', () => {
  const address = join()
  address.stalledRequests = 1_024
  for (let i = 0; i < 100; i++) address.charge(workOfRequest)
  assert.ok(address.delay > 200)
  address.stalledRequests = 128
  assert.equal(address.delay, 0)
})

test('requests that wait for their origins alone have no pace, however many they are', () => {
  const address = join()
  address.waitingRequests = 10_000
  address.charge(1_000 * workOfRequest)
  assert.equal(address.delay, 0)
  assert.equal(address.isCrowded, true)
  const hop = join(true)
  hop.waitingRequests = 10_000
  assert.equal(hop.isCrowded, false)
})

test('a trusted hop has no pace, and may leave any number of bytes', () => {
  assert.equal(delayWith(10_000, true), 0)
  const [client, hop] = [join(), join(true)]
  client.heldBytes = hop.heldBytes = 64 * 1024 * 1024
  assert.equal(client.isOverdrawn, false)
  client.heldBytes = hop.heldBytes += 1
  assert.equal(client.isOverdrawn, true)
  assert.equal(hop.isOverdrawn, false)
})

test('a trusted hop has no pace beside clients of its network, and they have theirs', () => {
  const addresses = new Http2Addresses()
  const trust = (hopFirst: boolean) => {
    const joined = [hopFirst, !hopFirst].map(isHop =>
      addresses.join(isHop ? '2001:db8::1' : '2001:db8::2', isHop),
    )
    return joined.map(({ isTrusted }) => isTrusted)
  }
  assert.deepEqual(trust(true), [true, false])
  assert.deepEqual(trust(false), [false, true])
})

test('connections of a network of IPv6 are those of one address, which is forgotten with the last', () => {
  const addresses = new Http2Addresses()
  const one = addresses.join('2001:db8::1', false)
  assert.equal(addresses.join('2001:db8::2', false), one)
  assert.notEqual(addresses.join('192.0.2.1', false), one)
  addresses.leave(one)
  assert.equal(addresses.size, 2)
  addresses.leave(one)
  assert.equal(addresses.size, 1)
})

test('a connection that takes its responses waits for none that leave theirs, and reads on before them', () => {
  const address = join()
  const order: string[] = []
  const wait = (name: string, isIndebted: boolean) =>
    address.add({ isIndebted, readOn: () => void order.push(name) })
  address.stalledRequests = 1_024
  address.charge(1_000 * workOfRequest)
  wait('late', true)
  assert.ok(address.delay > 1_000)
  wait('a', false)
  wait('b', false)
  assert.equal(address.delay, 0)
  assert.ok(address.delayOfIndebted > 1_000)
  address.readOn(1)
  address.readOn(1)
  assert.equal(address.hasWaiting, true)
  assert.ok(address.delay > 1_000)
  address.readOn(1)
  assert.deepEqual([order.join(' '), address.hasWaiting], ['a b late', false])
})

test('where more waits for an address than may, the connections have part in it that have more than an even share', () => {
  const address = join()
  address.count(1)
  const half = 32 * 1024 * 1024
  address.heldBytes = 2 * half
  assert.equal(address.overdraws(half + 1), false)
  address.heldBytes += 1
  assert.deepEqual([address.overdraws(half), address.overdraws(half + 1)], [false, true])
})
