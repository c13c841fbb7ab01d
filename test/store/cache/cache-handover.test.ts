import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Borrower, freshest, type Loan } from '../../../src/store/cache/cache-handover.ts'
import type { AnnouncedKey } from '../../../src/store/cache/announced-keys.ts'
import { gateway } from '../contract-specimens.ts'

const key: AnnouncedKey = ['gateway', 'a/default']
const loan = (age: number): Loan => ({ value: gateway(), age })

test('a loan is for who asked for it; one that comes late is for nobody', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: number[] = []
  const borrower = new Borrower(id => asked.push(id))
  const [first, second, third] = [borrower.ask(key, true), borrower.ask(key, false), borrower.ask(key, false)]
  const lent = loan(1)
  borrower.settle(asked[1]!, lent)
  borrower.settle(asked[0]!, null)
  assert.deepEqual([await first, await second], [null, lent])
  t.mock.timers.tick(250)
  borrower.settle(asked[2]!, lent)
  assert.equal(await third, null)
})

for (const [isFound, most] of [
  [false, 100],
  [true, 1_000],
] as const)
  test(`a flood asks for no more than ${most} loans in 100 ms (found by others: ${isFound})`, async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const asked: number[] = []
    const borrower = new Borrower(id => asked.push(id))
    const flood = () => Array.from({ length: 1_500 }, () => borrower.ask(key, isFound))
    const loans = flood()
    assert.equal(asked.length, most)
    assert.deepEqual(await Promise.all(loans.slice(most)), Array(1_500 - most).fill(null))
    t.mock.timers.tick(99)
    flood()
    assert.equal(asked.length, most)
    t.mock.timers.tick(1)
    flood()
    assert.equal(asked.length, 2 * most)
  })

test('a flood of unknown keys keeps nobody from what others have found', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: number[] = []
  const borrower = new Borrower(id => asked.push(id))
  for (let i = 0; i < 500; i++) void borrower.ask(['token', String(i)], false)
  const found = borrower.ask(key, true)
  const lent = loan(1)
  borrower.settle(asked.at(-1)!, lent)
  assert.equal(await found, lent)
})

test('of several handed-over copies the most recently confirmed one counts', () => {
  const [old, fresh] = [loan(500), loan(20)]
  assert.equal(freshest([null, old, fresh, null]), fresh)
  assert.equal(freshest([null]), null)
  assert.equal(freshest([]), null)
})
