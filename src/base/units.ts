// Durations in ms and sizes in bytes.

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

export const KiB = 2 ** 10
export const MiB = 2 ** 20
export const GiB = 2 ** 30
export const TiB = 2 ** 40

/** Rounds US dollars up to whole nanodollars, after correcting the inaccuracy of sums; a safe integer. */
export function nanodollarsOf(dollars: number): number {
  return Math.min(Math.ceil(Math.round(dollars * 1e12) / 1e3), Number.MAX_SAFE_INTEGER)
}
