import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Borrower, freshest, type Loan } from '../../src/store/lending.ts'
import type { FoundKey } from '../../src/store/found-keys.ts'
import { gateway } from './contract-specimens.ts'

const key: FoundKey = ['gateway', 'a/default']
const loan = (age: number): Loan => ({ value: gateway(), age })

test('a loan is for who asked for it; one that comes late is for nobody', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: number[] = []
  const borrower = new Borrower(id => asked.push(id))
  const [first, second, third] = [borrower.ask(key), borrower.ask(key), borrower.ask(key)]
  const lent = loan(1)
  borrower.settle(asked[1]!, lent)
  borrower.settle(asked[0]!, null)
  assert.deepEqual([await first, await second], [null, lent])
  t.mock.timers.tick(250)
  borrower.settle(asked[2]!, lent)
  assert.equal(await third, null)
})

test('a flood asks for no more than 100 loans in 100 ms', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: number[] = []
  const borrower = new Borrower(id => asked.push(id))
  const flood = () => Array.from({ length: 500 }, () => borrower.ask(key))
  const loans = flood()
  assert.equal(asked.length, 100)
  assert.deepEqual(await Promise.all(loans.slice(100)), Array(400).fill(null))
  t.mock.timers.tick(99)
  flood()
  assert.equal(asked.length, 100)
  t.mock.timers.tick(1)
  flood()
  assert.equal(asked.length, 200)
})

test('of several loans the one counts that was known to be right last', () => {
  const [old, fresh] = [loan(500), loan(20)]
  assert.equal(freshest([null, old, fresh, null]), fresh)
  assert.equal(freshest([null]), null)
  assert.equal(freshest([]), null)
})
