import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Evictions } from '../../../src/edge/accept/evictions.ts'
import { allConnections } from '../../../src/edge/accept/connection-share.ts'

interface Connection {
  readonly name: string
  readonly peer: string
  hasSentHello: boolean
  hasRequested: boolean
  isIdle: boolean
}

function connectionsOf() {
  const evictions = new Evictions<Connection>()
  const join = (name: string, peer: string, now = 0, state: 'silent' | 'idle' | 'busy' = 'silent') => {
    const connection = {
      name,
      peer,
      hasSentHello: false,
      hasRequested: state !== 'silent',
      isIdle: state === 'idle',
    }
    evictions.add(connection, now)
    return connection
  }
  /** Evicts one after the other; returns their names. */
  const evict = (count: number, key = allConnections, now = 10_000) => {
    const names: string[] = []
    for (let i = 0; i < count; i++) {
      const connection = evictions.find(key, now)
      if (connection === null) break
      names.push(connection.name)
      evictions.delete(connection)
    }
    return names.join(' ')
  }
  return { evictions, join, evict }
}

test('connections without a request are evicted first, the oldest of the largest network, and idle ones after them', () => {
  const { join, evict } = connectionsOf()
  join('idle', '192.0.2.9', 0, 'idle')
  join('visitor', '192.0.2.1', 1)
  for (let i = 1; i <= 3; i++) join(`a${i}`, '192.0.2.2', i)
  for (let i = 1; i <= 2; i++) join(`b${i}`, '192.0.2.3', i)
  join('busy', '192.0.2.8', 0, 'busy')
  assert.equal(evict(3), 'a1 b1 a2')
  assert.equal(evict(9).split(' ').toSorted().join(' '), 'a3 b2 idle visitor')
})

test('a new connection is evicted only if no idle one is left, and its network has more connections than that of the newcomer', () => {
  const { evictions, join, evict } = connectionsOf()
  join('idle', '192.0.2.9', 0, 'idle')
  for (let i = 0; i < 3; i++) join(`n${i}`, '192.0.2.2', 9_001)
  join('m0', '192.0.2.3', 9_001)
  assert.equal(evict(9), 'idle')
  for (let i = 0; i < 30; i++) join(`busy${i}`, '192.0.2.9', 9_001, 'busy')
  assert.equal(evictions.findNew(allConnections, '192.0.2.3')?.name, 'n0')
  join('m1', '192.0.2.3', 9_001)
  // Five are an eighth of all, and no more.
  assert.equal(evictions.findNew(allConnections, '192.0.2.3')?.name, 'n0')
  for (let i = 30; i < 40; i++) join(`busy${i}`, '192.0.2.9', 9_001, 'busy')
  assert.equal(evictions.findNew(allConnections, '192.0.2.3'), null)
  assert.equal(evictions.findNew(allConnections, '192.0.2.4')?.name, 'n0')
  assert.equal(evict(1, allConnections, 10_001), 'n0')
})

test('among new connections the oldest is evicted, also for one of its own address, and those that sent a greeting last', () => {
  const { evictions, join } = connectionsOf()
  const crowd = Array.from({ length: 40 }, (_, i) => join(`n${i}`, '192.0.2.2', 9_001))
  for (const early of crowd.slice(0, 15)) early.hasSentHello = true
  assert.equal(evictions.findNew(allConnections, '192.0.2.2')?.name, 'n15')
  assert.equal(evictions.findNew('192.0.2.2', '192.0.2.2')?.name, 'n15')
  // A look is at sixteen of them.
  crowd[15]!.hasSentHello = true
  assert.equal(evictions.findNew(allConnections, '192.0.2.2')?.name, 'n0')
})

test('a crowd of many addresses makes room as well, and among those the first that has not greeted', () => {
  const { evictions, join } = connectionsOf()
  const visitors = [join('v0', '192.0.2.1', 9_001), join('v1', '192.0.2.1', 9_001)]
  for (let i = 0; i < 40; i++) join(`n${i}`, `198.51.100.${i}`, 9_001)
  for (const visitor of visitors) visitor.hasSentHello = true
  assert.equal(evictions.findNew(allConnections, '192.0.2.1')?.name, 'n0')
})

test('an address at its limit loses its oldest idle connection, however many are busy', () => {
  const { join, evict } = connectionsOf()
  for (let i = 0; i < 500; i++) join(`b${i}`, '192.0.2.2', 0, 'busy')
  for (let i = 0; i < 3; i++) join(`i${i}`, '192.0.2.2', 0, 'idle')
  for (let i = 500; i < 900; i++) join(`b${i}`, '192.0.2.2', 0, 'busy')
  assert.equal(evict(4, '192.0.2.2'), 'i0 i1 i2')
})

test('new ones of an address at its limit stay where most of its connections are busy', () => {
  const { evictions, join, evict } = connectionsOf()
  for (let i = 0; i < 9; i++) join(`b${i}`, '192.0.2.2', 0, 'busy')
  join('new', '192.0.2.2', 9_001)
  assert.equal(evict(1, '192.0.2.2'), '')
  assert.equal(evictions.findNew('192.0.2.2', '192.0.2.2'), null)
})

test('a network of IPv6 has 48 bits, and an IPv4 address is a network of its own', () => {
  const { join, evict } = connectionsOf()
  join('near', '198.51.100.1', 0)
  join('near too', '198.51.100.2', 0)
  for (let i = 1; i <= 3; i++) join(`c${i}`, `2001:db8:1:${i}::1`, i)
  assert.equal(evict(2), 'c1 c2')
})

test('an address at its limit has room made by its own alone', () => {
  const { join, evict } = connectionsOf()
  for (let i = 1; i <= 3; i++) join(`c${i}`, '2001:db8:1:1::1', i)
  join('d', '2001:db8:1:2::1', 0)
  join('d idle', '2001:db8:1:2::2', 0, 'idle')
  join('e', '2001:db8:2:2::1', 0)
  assert.equal(evict(9, '2001:db8:1:2::/64'), 'd d idle')
  assert.equal(evict(1, '2001:db8:2:2::/64'), 'e')
})

test('a large network whose connections have all been served is none of silent ones', () => {
  const { join, evict } = connectionsOf()
  const served = Array.from({ length: 50 }, (_, i) => join(`s${i}`, '192.0.2.1', i))
  for (let i = 0; i < 2; i++) join(`a${i}`, '192.0.2.2', i)
  for (const connection of served) connection.hasRequested = true
  assert.equal(evict(3), 'a0 a1')
  // A look is at twenty of them.
  served[25]!.isIdle = true
  assert.equal(evict(1), 's25')
})

test('whatever comes and goes, a silent one of a largest network is found', () => {
  const peer = fc.integer({ min: 0, max: 4 }).map(i => `192.0.2.${i}`)
  fc.assert(
    fc.property(fc.array(fc.tuple(peer, fc.boolean()), { maxLength: 60 }), steps => {
      const { evictions, join } = connectionsOf()
      const open: Connection[] = []
      for (const [from, joins] of steps)
        if (joins) open.push(join('', from))
        else if (open.length > 0) evictions.delete(open.shift()!)
      const countOf = (address: string) => open.filter(({ peer }) => peer === address).length
      const found = evictions.find(allConnections, 10_000)
      if (open.length === 0) return assert.equal(found, null)
      assert.equal(countOf(found!.peer), Math.max(...open.map(({ peer }) => countOf(peer))))
      assert.equal(
        found,
        open.find(({ peer }) => peer === found!.peer),
      )
    }),
  )
})
