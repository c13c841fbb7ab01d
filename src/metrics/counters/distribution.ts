// The numbers that the hot path moves: no labels, no hashing, no allocation.

/** Upper bounds of the buckets, in ms: from a cache-warm hop on loopback to a minute. */
export const bucketBounds = [
  0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000,
] as const

/** A counter, or a gauge that can also go down. */
export class Tally {
  value = 0

  inc(): void {
    this.value++
  }

  dec(): void {
    this.value--
  }
}

/** Sorts durations in ms into buckets; the last one, above the highest bound, is +Inf. */
export class Distribution {
  readonly counts = new Float64Array(bucketBounds.length + 1)
  sum = 0

  observe(ms: number): void {
    let bucket = 0
    while (bucket < bucketBounds.length && ms > bucketBounds[bucket]!) bucket++
    this.counts[bucket]!++
    this.sum += ms
  }

  get count(): number {
    let total = 0
    for (const count of this.counts) total += count
    return total
  }
}

export function tallies<Name extends string>(names: readonly Name[]): Readonly<Record<Name, Tally>> {
  return Object.fromEntries(names.map(name => [name, new Tally()])) as Record<Name, Tally>
}

export function distributions<Name extends string>(
  names: readonly Name[],
): Readonly<Record<Name, Distribution>> {
  return Object.fromEntries(names.map(name => [name, new Distribution()])) as Record<Name, Distribution>
}
