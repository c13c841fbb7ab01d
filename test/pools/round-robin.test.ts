import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LeastOutstanding } from '../../src/pools/least-outstanding.ts'
import { RoundRobin } from '../../src/pools/round-robin.ts'
import { asking, chosen, named } from './candidates.ts'

test('equals take turns in their order', () => {
  equal(chosen(new RoundRobin(3), [named('a'), named('b'), named('c')], 7), 'abcabca')
})

test('turns go by weight, and are spread', () => {
  equal(chosen(new RoundRobin(3), [named('a', 5), named('b'), named('c')], 7), 'aabacaa')
})

test('a member without a share is passed over, and starts again where it has one', () => {
  const members = [named('a'), named('b'), named('c')]
  const balance = new RoundRobin(3)
  members[0]!.share = 0
  equal(chosen(balance, members, 4), 'bcbc')
  members[0]!.share = 1
  equal(chosen(balance, members, 6), 'abcabc')
  for (const member of members) member.share = 0
  equal(chosen(balance, members, 1), '-')
})

test('a share counts as a part of the weight', () => {
  const members = [named('a'), named('b')]
  members[0]!.share = 0.25
  const names = chosen(new RoundRobin(2), members, 100)
  equal(names.replaceAll('b', '').length, 20)
})

test('a member that was tried is not chosen again', () => {
  const members = [named('a'), named('b')]
  const balance = new RoundRobin(2)
  equal(balance.choose(members, asking(), [members[0]!])?.name, 'b')
  equal(balance.choose(members, asking(), members), null)
})

test('over one round of all weights each has exactly as many turns as it weighs', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 }), weights => {
      const members = weights.map((weight, i) => named(String(i), weight))
      const names = chosen(
        new RoundRobin(weights.length),
        members,
        weights.reduce((sum, w) => sum + w),
      )
      deepEqual(
        members.map(({ name }) => names.split(name).length - 1),
        weights,
      )
    }),
  )
})

for (const balance of [new RoundRobin(3), new LeastOutstanding(3)]) {
  test(`a copy goes on as the original does, and leaves it alone: ${balance.constructor.name}`, () => {
    const members = [named('a', 3), named('b', 2), named('c')]
    for (let i = 0; i < 20; i++) {
      const foretold = chosen(balance.copy(), members, 3)
      equal(foretold, chosen(balance.copy(), members, 3))
      equal(chosen(balance, members, 1), foretold[0])
    }
  })
}
