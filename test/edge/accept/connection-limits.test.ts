import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freeDescriptors, maxDescriptors } from '../../../src/net/socket/descriptors.ts'
import { ConnectionLimits } from '../../../src/edge/accept/connection-limits.ts'
import { edgeConfig } from '../../help/edge.ts'

const few = edgeConfig([], { client: { connections: 4, connectionsPerAddress: 2 } }).client
const any = edgeConfig([]).client

test('an address has a limited number of connections, for IPv6 its whole network, and returns them', () => {
  const limits = new ConnectionLimits()
  const take = (peer: string) => limits.take(peer, false, 0, few)
  assert.deepEqual(['2001:db8::1', '2001:db8::2', '2001:db8::3'].map(take), [
    null,
    null,
    'connections_per_address',
  ])
  assert.equal(take('2001:db8:0:1::1'), null)
  limits.leave('2001:db8::1')
  assert.equal(take('2001:db8::9'), null)
  assert.equal(take('2001:db8::9'), 'connections_per_address')
})

test('all together are limited; a trusted proxy may use any number of them', () => {
  const limits = new ConnectionLimits()
  for (let i = 0; i < 4; i++) assert.equal(limits.take('192.0.2.1', true, 0, few), null)
  assert.equal(limits.take('192.0.2.1', true, 0, few), 'connections')
  assert.equal(limits.take('192.0.2.2', false, 0, few), 'connections')
  limits.leave('192.0.2.1')
  assert.equal(limits.take('192.0.2.2', false, 0, few), null)
})

test('without limits any address may have any number', () => {
  const limits = new ConnectionLimits()
  for (let i = 0; i < 1_000; i++) assert.equal(limits.take('192.0.2.1', false, 0, any), null)
  assert.equal(limits.mayDial(1_000_000), true)
})

test('a connection that got one of the last descriptors is refused, whoever has the others', () => {
  const limits = new ConnectionLimits()
  const take = (descriptor: number) => limits.take('192.0.2.1', false, descriptor, any)
  const last = maxDescriptors() - 1
  assert.equal(take(last), null)
  limits.measure()
  assert.deepEqual(
    [take(last), take(last - 31), take(last - 32), take(-1)],
    ['descriptors', 'descriptors', null, null],
  )
})

test('half of the descriptors that are left are for clients, also where low ones are free', () => {
  const limits = new ConnectionLimits()
  limits.measure()
  const most = Math.floor((freeDescriptors() - 32) / 2)
  let count = 0
  while (count <= most + 16 && limits.take('192.0.2.1', true, 20, any) === null) count++
  assert.ok(Math.abs(count - most) <= 8, `${count} of ${most}`)
  assert.equal(limits.take('192.0.2.1', true, 20, any), 'descriptors')
  assert.equal(limits.mayDial(count), true)
})
