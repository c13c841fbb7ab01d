// Shrinks an input to what a property needs of it.

/** Removes pieces, the large ones first, as long as the property holds; asks for it at most `budget` times. */
export function shrink(input: Buffer, holds: (smaller: Buffer) => boolean, budget: number): Buffer {
  let best = input
  for (let size = best.length >> 1; size >= 1; size >>= 1)
    for (let at = 0; at < best.length; ) {
      if (budget-- === 0) return best
      const smaller = Buffer.concat([best.subarray(0, at), best.subarray(at + size)])
      if (holds(smaller)) best = smaller
      else at += size
    }
  return best
}
