// Measures what a limit costs each request, in ns: node bench/micro/limits/limiter.ts
import { systemClock } from '../../../src/base/clock.ts'
import { Limiter } from '../../../src/limits/limiter.ts'
import { type Limit, limitOf } from '../../../src/limits/limit.ts'
import type { Counters } from '../../../src/store/contract/store.ts'

const rounds = 7
const calls = 200_000
const sliding = { kind: 'sliding', period: 60_000 } as const
const far = limitOf('far', 1_000_000_000, sliding)
const tight = limitOf('tight', 1, sliding)
const quota = limitOf('quota', 1_000_000_000, { kind: 'day' })
const address = '192.0.2.7'
const addresses = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)

const together = new Limiter({ clock: systemClock, counters: nobodyElse() })
const alone = new Limiter({ clock: systemClock })
await together.spend(tight, address)
// A thousand new ones are shared in a second.
for (const [i, key] of addresses.entries()) await together.spend(far, key, systemClock.monotonic() + i)

await measure('far', together, far, [address])
await measure('far, 10,000 keys', together, far, addresses)
await measure('far, by the day', together, quota, [address])
await measure('over', together, tight, [address])
await measure('alone', alone, far, [address])
await together.close()

/** Stands in for a store in which no other process counts. */
function nobodyElse(): Counters {
  const counts = new Map<string, number>()
  return {
    isUnreachable: false,
    spend: async ({ key, limit, done, wanted }) => {
      const count = (counts.get(key) ?? 0) + done + wanted
      counts.set(key, count)
      return { count, granted: wanted, wait: count < limit ? 0 : 60_000 }
    },
  }
}

/** Prints the median over some rounds. */
async function measure(name: string, limiter: Limiter, limit: Limit, keys: readonly string[]): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(await timeOne(limiter, limit, keys))
  times.sort((a, b) => a - b)
  console.log(`${name.padEnd(20)} ${times[rounds >> 1]!.toFixed(0).padStart(5)} ns`)
}

async function timeOne(limiter: Limiter, limit: Limit, keys: readonly string[]): Promise<number> {
  const began = performance.now()
  for (let i = 0; i < calls; i++) {
    const spent = limiter.spend(limit, keys[i % keys.length]!)
    if (spent instanceof Promise) await spent
  }
  return ((performance.now() - began) * 1e6) / calls
}
