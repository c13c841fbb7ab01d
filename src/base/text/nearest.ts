// Suggests known words for unknown ones.

/** A phrase to append; empty if no known word is similar. */
export function didYouMean(word: string, words: Iterable<string>): string {
  const best = nearest(word, words)
  return best === null ? '' : `; did you mean ${best}?`
}

/** Null if no known word is similar. */
export function nearest(word: string, words: Iterable<string>): string | null {
  const maxDistance = word.length < 5 ? 1 : 2
  const [best] = [...words]
    .filter(candidate => Math.abs(candidate.length - word.length) <= maxDistance)
    .map(candidate => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance)
  return best?.candidate ?? null
}

/** Letters to add, drop, replace or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1, isSwap ? before[j - 2]! + 1 : Infinity))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
