// Measures the choice of a member in ns: node bench/micro/zones/pool.ts
import { systemClock } from '../../../src/base/clock.ts'
import { type BalanceConfig, usualEjection, usualRetries } from '../../../src/config/model/pool-config.ts'
import { MemberHealth } from '../../../src/pools/health.ts'
import { Member, newLedger, Pool } from '../../../src/pools/pool.ts'

const rounds = 5
const picks = 1_000_000

const balances: readonly BalanceConfig[] = [
  { by: 'round_robin' },
  { by: 'least_outstanding' },
  { by: 'hash', header: null },
  { by: 'hash', header: 'x-user' },
]

const requests = Array.from({ length: 256 }, (_, i) => ({
  clientAddress: `192.0.2.${i}`,
  head: {
    fields: ['Host', 'site.example', 'User-Agent', 'curl/8.5.0', 'Accept', '*/*', 'X-User', `user ${i}`],
  },
}))

for (const count of [1, 3, 30]) for (const balance of balances) measure(balance, count, 0)
for (const balance of balances) measure(balance, 3, 1)

function measure(balance: BalanceConfig, count: number, ejected: number): void {
  const pool = poolOf(balance, count, ejected)
  const times = Array.from({ length: rounds }, () => timeOne(pool))
  const median = times.sort((a, b) => a - b)[rounds >> 1]!
  const by = balance.by === 'hash' ? `hash ${balance.header ?? 'address'}` : balance.by
  const members = `${count} members${ejected === 0 ? '' : `, ${ejected} ejected`}`
  console.log(`${by.padEnd(18)} ${members.padEnd(22)} ${median.toFixed(0).padStart(5)} ns`)
}

function poolOf(balance: BalanceConfig, count: number, ejected: number): Pool<{ outstanding: number }> {
  const members = Array.from({ length: count }, (_, i) => {
    const settings = { ejection: usualEjection, check: null, slowStart: 0 }
    const health = new MemberHealth(settings, systemClock, () => {})
    if (i < ejected) for (let times = 0; times < usualEjection.failures; times++) health.failed({})
    return new Member({ outstanding: i % 3 }, `http://origin${i}.example`, 1, health)
  })
  const config = { name: 'main', balance, retries: usualRetries, retryOn: [], ejectOn: [] }
  return new Pool(config, members, newLedger(config, count, systemClock))
}

function timeOne(pool: Pool<{ outstanding: number }>): number {
  let found = 0
  const began = performance.now()
  for (let i = 0; i < picks; i++) if (pool.pick(requests[i & 255]!) !== null) found++
  const elapsed = performance.now() - began
  if (found < 0) throw new Error('unreachable: keeps the loop alive')
  return (elapsed * 1e6) / picks
}
