import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { LeastOutstanding } from '../../src/pools/least-outstanding.ts'
import { asking, chosen, named } from './candidates.ts'

test('the member with the fewest outstanding requests is chosen', () => {
  const members = [named('a'), named('b'), named('c')]
  Object.assign(members[0]!, { outstanding: 3 })
  Object.assign(members[1]!, { outstanding: 1 })
  Object.assign(members[2]!, { outstanding: 2 })
  equal(chosen(new LeastOutstanding(3), members, 2), 'bb')
})

test('a member may have as many more as it weighs more', () => {
  const members = [named('a', 3), named('b')]
  const balance = new LeastOutstanding(2)
  for (let i = 0; i < 40; i++) balance.choose(members, asking(), [])!.outstanding++
  equal(members[0]!.outstanding, 30)
})

test('equals take turns by weight', () => {
  equal(chosen(new LeastOutstanding(2), [named('a', 2), named('b')], 6), 'abaaba')
})

test('a member without a share or already tried is passed over, however idle', () => {
  const members = [named('a'), named('b'), named('c')]
  const balance = new LeastOutstanding(3)
  Object.assign(members[0]!, { share: 0 })
  Object.assign(members[2]!, { outstanding: 9 })
  equal(chosen(balance, members, 2), 'bb')
  equal(balance.choose(members, asking(), [members[1]!])?.name, 'c')
  equal(balance.choose(members, asking(), [members[1]!, members[2]!]), null)
})
