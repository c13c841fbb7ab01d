import assert from 'node:assert/strict'
import { test } from 'node:test'
import { banOwner, Bans } from '../../../src/access/bans/bans.ts'
import type { BanConfig } from '../../../src/config/model/access-config.ts'
import type { Config } from '../../../src/config/model/config.ts'
import { ManualClock } from '../../help/clock.ts'
import { openAccess } from '../../help/edge.ts'

const config = { refusals: 3, within: 10_000, lasts: 60_000 }

test('an address is banned at the last refusal allowed, for the configured time', () => {
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

test('the first refusal behind a ban is the first of a window, however short the ban was', () => {
  const clock = new ManualClock()
  const bans = new Bans(clock)
  const ban = bans.of('site', { refusals: 3, within: 60_000, lasts: 1_000 })
  for (let i = 0; i < 3; i++) ban.note('own')
  for (let i = 0; i < 2; i++) ban.note('imposed')
  ban.impose('imposed', 1_000)
  assert.equal(ban.active, 2)
  clock.advance(1_000)
  for (const key of ['own', 'imposed']) {
    ban.note(key)
    ban.note(key)
    assert.ok(!ban.has(key), key)
    ban.note(key)
    assert.ok(ban.has(key), key)
  }
})

test('listeners get each counted refusal, and the last one as all that lead to a ban', () => {
  const heard: unknown[] = []
  const bans = new Bans(new ManualClock(), {
    noted: (_, key, refusals) => heard.push([key, refusals]),
    banned: (_, key, lasts) => heard.push([key, 'banned', lasts]),
  })
  const ban = bans.of('site', config)
  for (let i = 0; i < 5; i++) ban.note('key')
  assert.deepEqual(heard, [
    ['key', 1],
    ['key', 1],
    ['key', 3],
    ['key', 'banned', 60_000],
  ])
})

test('a reported ban does not lengthen or shorten an existing one', () => {
  const clock = new ManualClock()
  const ban = new Bans(clock).of('site', config)
  ban.impose('key', 10_000)
  ban.impose('key', 50_000)
  ban.impose('key', 1_000)
  clock.advance(9_999)
  assert.ok(ban.has('key'))
  clock.advance(1)
  assert.ok(!ban.has('key'))
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

test('state of what the configuration no longer names is dropped, also if it is named again later', () => {
  const bans = new Bans(new ManualClock())
  const zones = [
    { name: 'shop', access: { ...openAccess, ban: config } },
    { name: 'open', access: openAccess },
  ] as unknown as Config['zones']
  const named = (ban: BanConfig | null) => ({ access: { ...openAccess, ban }, zones })
  bans.keep(named(config))
  const ban = bans.of(banOwner(null), config)
  const ofShop = bans.of(banOwner('shop'), config)
  bans.of(banOwner('gone'), config).note('192.0.2.1', 3)
  ban.note('192.0.2.1', 3)
  assert.equal(bans.active, 2)
  bans.keep(named({ ...config }))
  assert.equal(bans.active, 1)
  assert.equal(bans.of(banOwner('shop'), config), ofShop)
  assert.deepEqual([banOwner(null), banOwner('shop')], ['of all zones', 'of shop'])
  assert.equal(bans.of(banOwner(null), config), ban)
  bans.keep(named(null))
  assert.equal(bans.active, 0)
  assert.ok(!bans.of(banOwner(null), config).has('192.0.2.1'))
})

test('current bans are passed on with the time that they have left', () => {
  const clock = new ManualClock()
  const [here, there] = [new Bans(clock), new Bans(clock)]
  here.of('site', config).note('192.0.2.1', 3)
  clock.advance(40_000)
  there.of('site', config).note('192.0.2.1', 2)
  there.impose(here.standing)
  const unknown = [['unknown', new Map([['192.0.2.1', 1]])]] as const
  there.impose(unknown)
  there.count(unknown)
  clock.advance(19_999)
  assert.ok(there.of('site', config).has('192.0.2.1'))
  clock.advance(1)
  assert.ok(!there.of('site', config).has('192.0.2.1'))
  assert.deepEqual(here.standing, [])
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

test('a flood of addresses evicts the oldest, and counted addresses never evict banned ones', () => {
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

test('an address that is banned once more is the newest of them', () => {
  const clock = new ManualClock()
  const ban = new Bans(clock).of('site', { ...config, refusals: 1 })
  ban.note('again')
  ban.note('once')
  clock.advance(60_000)
  for (const key of ['again', ...Array.from({ length: 9_999 }, (_, i) => `address ${i}`)]) ban.note(key)
  assert.ok(ban.has('again'))
  assert.equal(ban.active, 10_000)
})

test('a look-up returns the bans with their remaining time, and adds none', () => {
  const clock = new ManualClock()
  const bans = new Bans(clock)
  const ban = bans.of('site', config)
  const still = bans.still.of('site', config)
  for (let i = 0; i < 5; i++) still.note('192.0.2.1')
  assert.deepEqual(
    [ban, still].map(one => [one.has('192.0.2.1'), one.left('192.0.2.1')]),
    Array(2).fill([false, 0]),
  )
  for (let i = 0; i < 3; i++) ban.note('192.0.2.1')
  clock.advance(1_000)
  assert.deepEqual([still.has('192.0.2.1'), still.left('192.0.2.1')], [true, 59_000])
})
