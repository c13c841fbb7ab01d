// The statistics of interleaved measurements: pure functions.

/** A ratio with the interval that holds the true one with 95 % confidence. */
export interface Interval {
  readonly ratio: number
  readonly low: number
  readonly high: number
}

/** What an interval says about a bound: on which side of it the ratio is, as good as on it, or nothing yet. */
export type Verdict = 'below' | 'above' | 'same' | 'undecided'

/** Numbers of blocks after which a run looks whether it is decided: each look would be another chance to be wrong by luck. */
export const looks: readonly number[] = [10, 20, 40, 80, 160]

/**
 * Standard deviations on either side that hold at all five looks together with 95 %, where each look doubles the data
 * (1.96 would do so for one look alone). By simulation; equal steps would take 2.413 (Pocock, Biometrika 64, 1977).
 */
export const allLooks = 2.494

/** Those that hold with 95 % where a run looks once, at its end. */
export const oneLook = 1.96

/** An interval within this share of its bound is decided, too: nobody needs to know on which side it is. */
const sameWithin = 0.01

/**
 * Returns the geometric mean of the ratios of blocks and its confidence interval: a t interval on their logarithms, so that
 * a and b can be swapped. Both lists have one positive value a block, of which there must be two or more. The deviations are those of a normal distribution; without them, it holds for all looks together.
 */
export function ratioInterval(a: readonly number[], b: readonly number[], deviations = allLooks): Interval {
  const logs = a.map((value, at) => Math.log(value / b[at]!))
  const mean = meanOf(logs)
  const half = studentQuantile(deviations, logs.length - 1) * standardError(logs, mean)
  return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) }
}

/** Decides an interval against a bound. */
export function verdict({ low, high }: Interval, bound: number): Verdict {
  if (high <= bound) return 'below'
  if (low >= bound) return 'above'
  return low >= bound * (1 - sameWithin) && high <= bound * (1 + sameWithin) ? 'same' : 'undecided'
}

/** Returns how many blocks more an undecided interval is likely to need; Infinity where its ratio is the bound itself. */
export function blocksMissing(interval: Interval, bound: number, blocks: number): number {
  const distance = Math.abs(Math.log(interval.ratio / bound))
  const half = Math.log(interval.high / interval.ratio)
  const needed = Math.min((half / distance) ** 2, (half / sameWithin) ** 2)
  return Math.max(1, Math.ceil(blocks * (needed - 1)))
}

/**
 * Returns the quantile of Student's t that leaves as much outside as so many standard deviations of a normal
 * distribution do (Fisher and Cornish, Technometrics 2, 1960); good to 1 % from nine degrees of freedom on, for 1.96 to 3 % from three on.
 */
export function studentQuantile(z: number, freedom: number): number {
  const n = freedom
  const first = (z ** 3 + z) / 4
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384
  return z + first / n + second / n ** 2 + third / n ** 3
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function standardError(values: readonly number[], mean: number): number {
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return Math.sqrt(squares / (values.length - 1) / values.length)
}
