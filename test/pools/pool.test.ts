import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualRetries } from '../../src/config/model/pool-config.ts'
import { MemberHealth } from '../../src/pools/health.ts'
import { Member, newLedger, Pool } from '../../src/pools/pool.ts'
import { ManualClock } from '../help/clock.ts'
import { asking } from './candidates.ts'

test('a request that is bound to a member goes there while that is healthy, and counts for the retries', () => {
  const clock = new ManualClock()
  const members = ['a', 'b'].map(name => {
    const health = new MemberHealth({ ejection: null, check: null, slowStart: 0 }, clock, () => {})
    return new Member({ name, outstanding: 0 }, name, 1, health)
  })
  const retries = { ...usualRetries, budget: 1 }
  const ledger = newLedger({ balance: { by: 'round_robin' }, retries }, 2, clock)
  const pool = new Pool({ name: '', retries, retryOn: [], ejectOn: [] }, members, ledger)
  const pick = () => pool.pickBound(asking(), ({ name }) => name === 'b')?.target.name
  for (let i = 0; i < 20; i++) assert.equal(pick(), 'b')
  let granted = 0
  while (pool.budget.spend()) granted++
  assert.equal(granted, 30)
  const down = { isUp: false, since: 0, nextCheckAt: 0, lastCheckAt: 0, lastDuration: 0, lastStatus: null }
  members[1]!.health.applyCheck({ ...down, lastError: 'down' })
  assert.equal(pick(), 'a')
})
