// How patient a supervisor is with its workers, and they with it.

/** All in ms, but for `mostMissed`. */
export interface Supervision {
  /** A worker that lived as long is no longer held to be in a loop of crashes. */
  readonly steadyLife: number
  /** The bounds of the wait before a worker that crashed is started again. */
  readonly shortestWait: number
  readonly longestWait: number
  /** How much longer than the grace a worker may take to end. */
  readonly drainSlack: number
  /** How long a worker may take to reload; one that has just been started has yet to listen. */
  readonly reloadPatience: number
  /** How often each worker is asked for a sign of life. */
  readonly heartbeat: number
  /** How many in a row it may miss. Counted rather than timed: after a sleep of the whole machine nobody is late. */
  readonly mostMissed: number
  /** How long the stack of a hung worker may take. */
  readonly stackPatience: number
  /** How long a worker may take to tell how its pools are doing; nobody needs to know enough to end it. */
  readonly viewPatience: number
  /** How long a worker may take to lend what it remembers: a request waits. */
  readonly lendPatience: number
  /** How long a worker may take to tell what it has counted. */
  readonly snapshotPatience: number
  /** How long a worker may take to reset its connections. */
  readonly cutPatience: number
  /** How long what runs may take in a worker whose supervisor is gone. */
  readonly orphanGrace: number
  /** How long the last lines of a worker's log may take. */
  readonly lastWords: number
}

export const usualSupervision: Supervision = {
  steadyLife: 10_000,
  shortestWait: 100,
  longestWait: 10_000,
  drainSlack: 2_000,
  reloadPatience: 10_000,
  heartbeat: 1_000,
  mostMissed: 10,
  stackPatience: 2_000,
  viewPatience: 1_000,
  lendPatience: 100,
  snapshotPatience: 1_000,
  cutPatience: 500,
  orphanGrace: 30_000,
  lastWords: 1_000,
}

/** Returns how many ms to wait before a worker that crashed is started again: doubled with each attempt (from 0) up to the longest, then a random half of it, so that workers do not return in step. */
export function backoff(
  attempt: number,
  { shortestWait, longestWait }: Pick<Supervision, 'shortestWait' | 'longestWait'>,
  random: () => number = Math.random,
): number {
  const ceiling = Math.min(longestWait, shortestWait * 2 ** attempt)
  return Math.round(ceiling * (0.5 + random() / 2))
}
