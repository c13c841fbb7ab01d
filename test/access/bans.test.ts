import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bans } from '../../src/access/bans.ts'
import { ManualClock } from '../help/clock.ts'

const config = { refusals: 3, within: 10_000, lasts: 60_000 }

test('an address is banned at the refusal that is one too many, for as long as is set', () => {
  const clock = new ManualClock()
  const ban = new Bans(clock).of('site', config)
  ban.note('192.0.2.1')
  ban.note('192.0.2.1')
  ban.note('192.0.2.2')
  assert.ok(!ban.has('192.0.2.1'))
  ban.note('192.0.2.1')
  assert.ok(ban.has('192.0.2.1'))
  assert.ok(!ban.has('192.0.2.2'))
  clock.advance(59_999)
  assert.ok(ban.has('192.0.2.1'))
  clock.advance(1)
  assert.ok(!ban.has('192.0.2.1'))
  ban.note('192.0.2.1')
  assert.ok(!ban.has('192.0.2.1'), 'it begins anew')
})

test('refusals count together only within their window', () => {
  const clock = new ManualClock()
  const ban = new Bans(clock).of('site', config)
  for (let i = 0; i < 6; i++) {
    ban.note('192.0.2.1')
    clock.advance(5_000)
  }
  assert.ok(!ban.has('192.0.2.1'))
})

test('bans outlive a reload that leaves them alone, and no other', () => {
  const bans = new Bans(new ManualClock())
  for (let i = 0; i < 3; i++) bans.of('site', config).note('192.0.2.1')
  assert.ok(bans.of('site', { ...config }).has('192.0.2.1'))
  assert.ok(!bans.of('other', config).has('192.0.2.1'))
  assert.ok(!bans.of('site', { ...config, lasts: 1 }).has('192.0.2.1'))
})

test('those that are banned now are counted over all policies', () => {
  const clock = new ManualClock()
  const bans = new Bans(clock)
  const once = { ...config, refusals: 1 }
  bans.of('a', once).note('192.0.2.1')
  clock.advance(30_000)
  bans.of('a', once).note('192.0.2.2')
  bans.of('b', once).note('192.0.2.2')
  assert.equal(bans.active, 3)
  clock.advance(30_000)
  assert.equal(bans.active, 2)
})

test('a flood of addresses forgets the longest known, and those that are only counted never the banned', () => {
  const ban = new Bans(new ManualClock()).of('site', { ...config, refusals: 2 })
  ban.note('first')
  ban.note('first')
  ban.note('forgotten')
  for (let i = 0; i < 10_000; i++) ban.note(`address ${i}`)
  assert.ok(ban.has('first'))
  ban.note('forgotten')
  assert.ok(!ban.has('forgotten'))
  for (let i = 0; i < 20_000; i++) {
    ban.note(`banned ${i}`)
    ban.note(`banned ${i}`)
  }
  assert.equal(ban.active, 10_000)
  assert.ok(!ban.has('first'))
})
