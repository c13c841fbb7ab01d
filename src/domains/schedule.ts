// When to ask DNS again: often as long as the owner is likely to look on, then ever less. About 430 times in two days.

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** How long after the beginning which step is taken; beyond, the last one. */
const ladder = [
  { until: 15 * minute, step: 15 * second },
  { until: 2 * hour, step: minute },
  { until: 12 * hour, step: 5 * minute },
]
const lastStep = 15 * minute

/** Returns when to ask after an answer at `now`: a step of the ladder later, give or take a tenth so that clients don't march in step, but never after the deadline. */
export function nextCheckAt(startedAt: number, deadline: number, now: number, random = Math.random): number {
  const step = ladder.find(({ until }) => now - startedAt < until)?.step ?? lastStep
  return Math.min(deadline, now + Math.round(step * (0.9 + 0.2 * random())))
}
