// A process that spends against a limit in the store of its arguments as fast as it is told to, and tells its parent when each request was let in.

import { systemClock } from '../../src/base/clock.ts'
import { LimitMetrics } from '../../src/metrics/counters/limit-metrics.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { limitOf } from '../../src/limits/limit.ts'
import { openStore } from '../../src/store/open.ts'

/** What a parent asks for: so many requests in a second, for so many ms, from a time on, against a limit of so many. */
export interface Order {
  readonly most: number
  readonly rate: number
  readonly duration: number
  readonly from: number // ms since the epoch
}

/** When a request was asked for and when it was let in, in ms since the epoch. */
export type Admission = readonly [asked: number, admitted: number]

/** The requests that were let in, how many were refused, and the longest that one waited. */
export interface Outcome {
  readonly admitted: readonly Admission[]
  readonly refused: number
  readonly longest: number
  readonly storeCalls: number
  readonly fallbacks: number
}

/** Ms: no machine is so busy that one decides alone. */
const timeout = 30_000

const [, , url, period] = process.argv as string[]
const store = await openStore(url!, { commandTimeout: timeout })
const metrics = new LimitMetrics()
const limiter = new Limiter({ clock: systemClock, counters: store.counters, metrics, timeout })

process.on('disconnect', () => process.exit())
process.on('message', order => void carryOut(order as Order).then(outcome => process.send!(outcome)))
process.send!('ready')

async function carryOut({ most, rate, duration, from }: Order): Promise<Outcome> {
  const limit = limitOf(`shared by ${most}`, most, { kind: 'sliding', period: Number(period) })
  const { storeCalls, fallbacks } = metrics
  const before = { storeCalls: storeCalls.value, fallbacks: fallbacks.value }
  const admitted: Admission[] = []
  const underWay = new Set<Promise<void>>()
  let refused = 0
  let longest = 0
  const one = async () => {
    const began = performance.now()
    const { isAllowed } = await limiter.spend(limit, 'key')
    const ended = performance.now()
    longest = Math.max(longest, ended - began)
    const { timeOrigin } = performance
    if (isAllowed) admitted.push([timeOrigin + began, timeOrigin + ended])
    else refused++
  }
  await new Promise(resolve => setTimeout(resolve, from - Date.now()))
  const began = performance.now()
  for (let sent = 0; performance.now() - began < duration; ) {
    for (const due = ((performance.now() - began) * rate) / 1000; sent < due; sent++) {
      const spent = one()
      underWay.add(spent)
      void spent.finally(() => underWay.delete(spent))
    }
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  await Promise.all(underWay)
  return {
    ...{ admitted, refused, longest },
    storeCalls: storeCalls.value - before.storeCalls,
    fallbacks: fallbacks.value - before.fallbacks,
  }
}
