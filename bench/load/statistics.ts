// The little statistics of the bench, for measure.ts and the reports.

/** Returns the middle value, or the mean of the two middle ones; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Returns the nearest-rank percentile, with `percent` above 0 and up to 100; NaN of nothing. */
export function percentile(values: readonly number[], percent: number): number {
  return ascending(values)[Math.ceil((values.length * percent) / 100) - 1] ?? Number.NaN
}

/** Turns the order round every other round, so that no contestant always runs on the warmer machine. */
export function alternate<T>(contestants: readonly T[], round: number): T[] {
  return round % 2 === 0 ? [...contestants] : contestants.toReversed()
}

function ascending(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b)
}
