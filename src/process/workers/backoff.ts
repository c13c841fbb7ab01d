// How long to wait before a worker that keeps crashing is started again.

import type { Supervision } from './supervision.ts'

/** Returns ms: doubled with each attempt (from 0) up to the longest, then a random half of it, so that workers do not return in step. */
export function backoff(
  attempt: number,
  { shortestWait, longestWait }: Pick<Supervision, 'shortestWait' | 'longestWait'>,
  random: () => number = Math.random,
): number {
  const ceiling = Math.min(longestWait, shortestWait * 2 ** attempt)
  return Math.round(ceiling * (0.5 + random() / 2))
}
