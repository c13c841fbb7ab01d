// Measures what the step of the rate limits costs a request far from all of them, in ns: node bench/micro/limits/meter.ts
import { systemClock } from '../../../src/base/clock.ts'
import { EdgeMetrics } from '../../../src/metrics/counters/edge-metrics.ts'
import type { LimitKey } from '../../../src/config/model/limit-config.ts'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { meter } from '../../../src/edge/meter/meter.ts'
import { compileRateLimits } from '../../../src/edge/snapshot/limit-rules.ts'
import { people } from '../../../src/errors/audience/people.ts'
import { Limiter } from '../../../src/limits/limiter.ts'
import { medianOf } from '../median.ts'

const calls = 200_000
const metrics = new EdgeMetrics()
const limiter = new Limiter({ clock: systemClock })
const fields = [
  ['Host', 'site.test'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64)'],
  ['Accept', 'application/json'],
  ['X-Api-Key', '0123456789abcdef'],
  ['Authorization', 'Bearer svct_0123456789abcdefghijklmnopqrstuvwxyz0123456789'],
].flat()

const v4 = Array.from({ length: 1_000 }, (_, i) => `192.0.${i >> 8}.${i & 255}`)
const v6 = v4.map((_, i) => `2001:db8:${i.toString(16)}:2::1`)
const cases: readonly [name: string, key: LimitKey, addresses: readonly string[]][] = [
  ['address', { by: 'address' }, v4.slice(0, 1)],
  ['address, ever another', { by: 'address' }, v4],
  ['address of IPv6', { by: 'address' }, v6.slice(0, 1)],
  ['address of IPv6, ever another', { by: 'address' }, v6],
  ['header', { by: 'header', name: 'x-api-key' }, v4],
  ['token', { by: 'token' }, v4],
]

for (const [name, key, addresses] of cases) {
  const limits = compileRateLimits(
    [{ name, limit: 1_000_000_000, period: 60_000, key: [key], when: null, action: 'block' }],
    metrics,
  )
  const exchanges = addresses.map(clientAddress => exchangeOf(limits, clientAddress))
  let i = 0
  const ns = medianOf(calls, () => {
    const x = exchanges[i++ % exchanges.length]!
    x.addedLines = ''
    if (meter(x) !== null) throw new Error('a request was refused')
  })
  console.log(`${name.padEnd(30)} ${ns.toFixed(0).padStart(5)} ns`)
}

/** Stands in for an exchange that has come to this step. */
function exchangeOf(limits: ReturnType<typeof compileRateLimits>, clientAddress: string): Exchange {
  const x = { plane: { limiter, metrics }, route: { limits }, head: { fields }, clientAddress, ai: null }
  return {
    ...x,
    audience: people,
    startedAt: systemClock.monotonic(),
    addedLines: '',
  } as unknown as Exchange
}
