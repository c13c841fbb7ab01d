// Percentiles of bursts of requests, and how they differ between two who were asked in turn: pure functions.
import { percentile } from '../load/statistics.ts'
import type { Bursts } from './latency.ts'

/** A value with its 95 % interval. */
export interface Spread {
  readonly value: number
  readonly low: number
  readonly high: number
}

const resamples = 400

/**
 * Compares a percentile of two, by subtraction or another way. The interval is that of a bootstrap over bursts, of which
 * both lists have the same number: what slowed one burst down has mostly hit that of the other one, too.
 */
export function compareTails(
  a: Bursts,
  b: Bursts,
  percent: number,
  compare: (a: number, b: number) => number = (a, b) => a - b,
  random: () => number = Math.random,
): Spread {
  const of = (chosen: readonly number[]) => {
    const all = (bursts: Bursts) =>
      percentile(
        chosen.flatMap(at => bursts[at]!),
        percent,
      )
    return compare(all(a), all(b))
  }
  const every = a.map((_, at) => at)
  const drawn = Array.from({ length: resamples }, () => of(every.map(() => Math.floor(random() * a.length))))
  return { value: of(every), low: percentile(drawn, 2.5), high: percentile(drawn, 97.5) }
}
