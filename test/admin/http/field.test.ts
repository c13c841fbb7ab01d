import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Field } from '../../../src/admin/http/field.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'

test('an unknown member gets the name that was probably meant, where there is one', () => {
  const faults: Fault[] = []
  const body = { spend_limit: 1, limit_type: 2, budget: 3, ['__proto__']: 4 }
  new Field(body, faults).members([], ['spend_limits', 'limitType', 'limit'])
  assert.deepEqual(
    faults.map(({ message }) => message),
    [
      'spend_limit is an unknown member; did you mean spend_limits?',
      'limit_type is an unknown member; did you mean limitType?',
      'budget is an unknown member',
      '__proto__ is an unknown member',
    ],
  )
})

test('thousands of unknown members are refused in no time, the first hundred by name', () => {
  const faults: Fault[] = []
  const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`member${i}`, i]))
  const known = Array.from({ length: 50 }, (_, i) => `members${i}`)
  const before = process.threadCpuUsage()
  new Field(body, faults).members([], known)
  assert.equal(faults.length, 100)
  const { user, system } = process.threadCpuUsage(before)
  assert.ok(user + system < 500_000)
})
