import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { Rendezvous } from '../../src/pools/rendezvous.ts'
import { asking, type Named, named } from './candidates.ts'

const clients = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
const balance = new Rendezvous(null)

function homes(members: readonly Named[]): string[] {
  return clients.map(client => balance.choose(members, asking(client), [])!.name)
}

function countOf(homes: readonly string[], name: string): number {
  return homes.filter(home => home === name).length
}

const members = () => ['http://a:80', 'http://b:80', 'http://c:80', 'http://d:80'].map(name => named(name))

test('clients are spread evenly, and each has always the same member', () => {
  const before = homes(members())
  for (const { name } of members()) ok(Math.abs(countOf(before, name) - 2_500) < 250, name)
  deepEqual(homes(members().reverse()), before)
})

test('clients are spread by weight', () => {
  const weighted = members()
  weighted[1]!.weight = 5
  ok(Math.abs(countOf(homes(weighted), 'http://b:80') - 6_250) < 300)
})

test('a member that goes moves its own clients alone, to all others, and has them again when it is back', () => {
  const all = members()
  const before = homes(all)
  all[2]!.share = 0
  const without = homes(all)
  for (const [i, home] of before.entries()) {
    if (home === 'http://c:80') notEqual(without[i], home)
    else equal(without[i], home)
  }
  for (const name of ['http://a:80', 'http://b:80', 'http://d:80'])
    ok(countOf(without, name) - countOf(before, name) > 600, name)
  all[2]!.share = 1
  deepEqual(homes(all), before)
})

test('a member that comes back gradually takes only clients that were its own', () => {
  const all = members()
  const before = homes(all)
  all[2]!.share = 0.1
  const rising = homes(all)
  const back = countOf(rising, 'http://c:80')
  ok(back > 150 && back < 500, String(back))
  for (const [i, home] of rising.entries()) if (home === 'http://c:80') equal(before[i], home)
})

test('a retry goes where the client would go without the member that was tried', () => {
  const all = members()
  const first = balance.choose(all, asking('192.0.2.7'), [])!
  const second = balance.choose(all, asking('192.0.2.7'), [first])
  first.share = 0
  equal(balance.choose(all, asking('192.0.2.7'), []), second)
  equal(balance.choose(all, asking('192.0.2.7'), all), null)
})

test('the value of a header is the key, whatever the case of its name, and the address where it is missing', () => {
  const byUser = new Rendezvous('x-user')
  const all = members()
  const homeOf = (address: string, ...fields: string[]) =>
    byUser.choose(all, asking(address, ...fields), [])!.name
  for (let i = 0; i < 50; i++) {
    equal(homeOf(`10.0.0.${i}`, 'Accept', '*/*', 'X-User', 'mira'), homeOf('192.0.2.1', 'x-user', 'mira'))
    equal(homeOf(`10.0.0.${i}`, 'Accept', '*/*'), balance.choose(all, asking(`10.0.0.${i}`), [])!.name)
  }
  const users = new Set(Array.from({ length: 50 }, (_, i) => homeOf('192.0.2.1', 'X-User', `user ${i}`)))
  equal(users.size, 4)
})
