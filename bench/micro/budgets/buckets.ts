// Measures what finding the buckets of a call costs, in ns: node bench/micro/budgets/buckets.ts
import { bucketsOf, type CallFacts } from '../../../src/budgets/buckets.ts'
import type { Criterion, SpendRule } from '../../../src/store/records/budget-rule.ts'
import type { Gateway } from '../../../src/store/records/records.ts'
import { tokenWith } from '../../../test/tokens/token-with.ts'

const rounds = 9
const calls = 200_000
const partition: Criterion = { mode: 'partition' }
const rule = (id: string, more: Partial<SpendRule> = {}): SpendRule => ({
  ...{ id, isEnabled: true, unit: 'cost', limit: 1, window: 'month', technique: 'fixed' },
  whenUnreachable: 'closed',
  ...more,
})
const gatewayWith = (...rules: readonly SpendRule[]) =>
  ({ account: 'a', id: 'default', spendLimits: { isEnabled: true, rules } }) as unknown as Gateway
const { token } = tokenWith()
const facts = Array.from(
  { length: 1_000 },
  (_, i): CallFacts => ({ provider: 'openai', model: `gpt-${i % 5}`, metadata: { team: `team ${i % 100}` } }),
)

measure('no rules', gatewayWith())
measure('three rules', gatewayWith(rule('a'), rule('b', { window: 60 }), rule('c', { token: partition })))
measure(
  'three by metadata',
  gatewayWith(
    rule('a', { metadata: { team: partition } }),
    rule('b', { metadata: { team: partition }, window: 60 }),
    rule('c', { provider: { mode: 'filter', values: ['openai'] } }),
  ),
)
measure('one by two', gatewayWith(rule('a', { metadata: { team: partition }, model: partition })))

function measure(name: string, gateway: Gateway): void {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(timeOne(gateway))
  times.sort((a, b) => a - b)
  console.log(`${name.padEnd(20)} ${times[rounds >> 1]!.toFixed(0).padStart(5)} ns`)
}

function timeOne(gateway: Gateway): number {
  const now = Date.now()
  const began = performance.now()
  for (let i = 0; i < calls; i++) bucketsOf(gateway, token, facts[i % facts.length]!, now)
  return ((performance.now() - began) * 1e6) / calls
}
