// When to check DNS again: often while the owner is likely to be watching, then less and less. About 430
// times in two days.

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The interval by time since the start; beyond the list, the last one. */
const ladder = [
  { until: 15 * minute, step: 15 * second },
  { until: 2 * hour, step: minute },
  { until: 12 * hour, step: 5 * minute },
]
const lastStep = 15 * minute

/**
 * Returns the time of the next check after a result at `now`: the interval plus or minus a tenth, so that
 * clients do not synchronise, but never after the deadline.
 */
export function nextCheckAt(startedAt: number, deadline: number, now: number, random = Math.random): number {
  const step = ladder.find(({ until }) => now - startedAt < until)?.step ?? lastStep
  return Math.min(deadline, now + Math.round(step * (0.9 + 0.2 * random())))
}
