// Recent calls to the AI gateways of an account, summed up from their logs.

import { pause } from '../../base/turns/turns.ts'
import type { CallSum } from '../../store/log-sums/call-sum.ts'
import { isoTime } from '../records/record-handlers.ts'
import type { Api } from '../api/api-types.ts'

const hour = 3_600_000
const hours = 24
/** Beyond this time in ms, the other gateways are read at another time. */
const atOnce = 8
const timeout = 40
const maxListed = 100

/** Sums up the calls of the last 24 hours by hour and by gateway, busiest first. */
export async function viewAiTraffic(account: string, { store, logSeries, instance }: Api, now: number) {
  const windows = { since: Math.floor(now / hour) * hour - (hours - 1) * hour, width: hour, count: hours }
  const byHour = Array.from({ length: hours }, () => new Calls())
  const byGateway: (readonly [id: string, calls: Calls])[] = []
  const look = async (id: string) => {
    const series = await logSeries.read([account, id], windows, [])
    const calls = new Calls()
    for (const [at, cells] of series.windows.entries()) {
      await pause()
      for (const { sum } of [...cells.all(), { sum: cells.rest }]) {
        calls.add(sum)
        byHour[at]!.add(sum)
      }
    }
    if (calls.count > 0) byGateway.push([id, calls])
    return series.completeSince <= windows.since
  }
  const until = performance.now() + timeout
  const lookAll = async () => {
    let isWhole = true
    for await (const gateways of store.gateways.walk(account))
      for (let from = 0; from < gateways.length; from += atOnce) {
        if (performance.now() > until) return false
        const looks = await Promise.all(gateways.slice(from, from + atOnce).map(({ id }) => look(id)))
        isWhole &&= looks.every(Boolean)
      }
    return isWhole
  }
  const isComplete = await lookAll()
  const busiest = byGateway.toSorted(([, one], [, other]) => other.count - one.count).slice(0, maxListed)
  return {
    since: isoTime(windows.since),
    is_complete: isComplete,
    price_date: instance.priceDate,
    hours: byHour.map((calls, at) => ({ at: isoTime(windows.since + at * hour), ...calls.view() })),
    gateways: busiest.map(([gateway_id, calls]) => ({ gateway_id, ...calls.view() })),
  }
}

class Calls {
  count = 0
  #errors = 0
  #tokensIn = 0
  #tokensOut = 0
  #cost = 0
  #withoutCost = 0
  #reused = 0
  #savedTokensIn = 0
  #savedTokensOut = 0
  #savedCost = 0

  add(sum: CallSum): void {
    this.count += sum.count
    this.#errors += sum.errors
    this.#tokensIn += sum.tokensIn
    this.#tokensOut += sum.tokensOut
    this.#cost += sum.cost
    this.#withoutCost += sum.withoutCost
    this.#reused += sum.savings.reused
    this.#savedTokensIn += sum.savings.tokensIn
    this.#savedTokensOut += sum.savings.tokensOut
    this.#savedCost += sum.savings.cost
  }

  view() {
    return {
      count: this.count,
      errors: this.#errors,
      tokens_in: this.#tokensIn,
      tokens_out: this.#tokensOut,
      cost: rounded(this.#cost),
      count_without_cost: this.#withoutCost,
      count_cached: this.#reused,
      saved_tokens_in: this.#savedTokensIn,
      saved_tokens_out: this.#savedTokensOut,
      saved_cost: rounded(this.#savedCost),
    }
  }
}

/** Rounds cost to the precision of entries, which sums of floating-point numbers exceed. */
function rounded(cost: number): number {
  return Math.round(cost * 1e12) / 1e12
}
