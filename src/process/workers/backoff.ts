// How long to wait before a worker that keeps crashing is started again.

const shortest = 100
const longest = 10_000

/** Returns ms: doubled with each attempt (from 0) up to ten seconds, then a random half of it, so that workers do not return in step. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(longest, shortest * 2 ** attempt)
  return Math.round(ceiling * (0.5 + random() / 2))
}
