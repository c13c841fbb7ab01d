import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Degradation } from '../../../src/store/contract/degradation.ts'
import { Trust } from '../../../src/store/contract/trust.ts'

const at = (generation: number, last = `${generation}`, identity = 'a'.repeat(32)) => ({
  identity,
  generation,
  last,
})
const seen = (generation: number, last?: string, identity?: string) => ({
  ...at(generation, last, identity),
  isBehind: false,
})

function start(generation: number) {
  const degradation = new Degradation()
  const trust = new Trust(degradation)
  trust.expect(seen(generation))
  return { trust, codes: () => degradation.reasons.map(({ code }) => code) }
}

test('what was asked for before a change was seen may come behind it without the change', () => {
  const { trust, codes } = start(10)
  const asked = trust.seen!
  trust.check(at(11), asked)
  trust.check(at(10), asked)
  assert.deepEqual([trust.seen, codes()], [seen(11), []])
  assert.throws(() => trust.check(at(10), trust.seen!), { name: 'StoreDegraded' })
  assert.deepEqual(codes(), ['store_older'])
  trust.check(at(11), trust.seen!)
  assert.deepEqual([trust.seen, codes()], [seen(11), []])
})

test('a late response does not restore trust in a store that lost data', () => {
  const { trust, codes } = start(10)
  const asked = trust.seen!
  trust.check(at(12), asked)
  assert.throws(() => trust.check(at(11, 'another'), trust.seen!), { name: 'StoreDegraded' })
  trust.check(at(11, 'another'), asked)
  assert.deepEqual(codes(), ['store_older'])
  assert.equal(trust.isDoubted, true)
})

test('what was asked for of a store before another was accepted is not used, and says nothing of that', () => {
  const { trust, codes } = start(10)
  const asked = trust.seen!
  trust.expect(seen(3, '3', 'b'.repeat(32)))
  assert.throws(() => trust.check(at(3, '3', 'b'.repeat(32)), asked), { name: 'StoreDegraded' })
  assert.deepEqual(codes(), [])
})

test('what was asked for before a store was accepted as it is is not used, and does not bring the doubt back', () => {
  const { trust, codes } = start(10)
  assert.throws(() => trust.check(at(5), trust.seen!), { name: 'StoreDegraded' })
  const asked = trust.seen!
  trust.expect(seen(5))
  assert.throws(() => trust.check(at(5), asked), { name: 'StoreDegraded' })
  assert.deepEqual([trust.seen, codes()], [seen(5), []])
})

test('what was asked for while a store lacked changes does not bring the doubt back once it has them, and others', () => {
  const { trust, codes } = start(10)
  assert.throws(() => trust.check(at(9), trust.seen!), { name: 'StoreDegraded' })
  const asked = trust.seen!
  trust.check(at(10), asked)
  assert.throws(() => trust.check(at(11), asked), { name: 'StoreDegraded' })
  trust.check(at(11), trust.seen!)
  assert.deepEqual([trust.seen, codes()], [seen(11), []])
})

test('a change that is not confirmed may be missing again, until it is confirmed', () => {
  const { trust, codes } = start(10)
  trust.check(at(11, 'undone'), trust.seen!, false)
  assert.deepEqual([trust.seen, trust.isAhead], [seen(10), true])
  trust.check(at(10), trust.seen!, false)
  assert.deepEqual([trust.seen, trust.isAhead, codes()], [seen(10), false, []])
  trust.check(at(11), trust.seen!, false)
  trust.confirm(at(11), trust.seen!)
  assert.deepEqual([trust.seen, trust.isAhead], [seen(11), false])
  for (const mark of [at(10), at(11, 'undone'), null])
    assert.throws(() => trust.check(mark, trust.seen!, false), { name: 'StoreDegraded' })
})

test('a confirmed mark says nothing of a store that lacks changes, or of another one', () => {
  const { trust } = start(10)
  const asked = trust.seen!
  trust.confirm(at(11, '11', 'b'.repeat(32)), asked)
  trust.confirm(at(9), asked)
  trust.confirm(null, asked)
  assert.deepEqual(trust.seen, seen(10))
  assert.throws(() => trust.check(at(9), trust.seen!, false), { name: 'StoreDegraded' })
  trust.confirm(at(11), asked)
  assert.deepEqual([trust.seen, trust.isDoubted], [{ ...seen(10), isBehind: true }, true])
})
