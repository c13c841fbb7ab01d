// The timeouts of a supervisor for its workers, and of workers without one.

/** All in ms, except the pings that may be missed. */
export interface Supervision {
  /** A worker that lived this long is not considered to be in a crash loop. */
  readonly steadyLife: number
  readonly minWait: number
  readonly maxWait: number
  /** How long a worker may take to stop, beyond the grace. */
  readonly drainSlack: number
  /** How long a worker may take to reload; one that has just been started has yet to listen. */
  readonly reloadTimeout: number
  /** How often each worker is pinged. */
  readonly heartbeat: number
  /** Counted rather than timed: after the machine was suspended no worker is late. */
  readonly maxMissed: number
  /** It loads its code first. */
  readonly maxMissedAtStart: number
  readonly stackTimeout: number
  /** How long a worker may take to report its pools; a late one is not killed for it. */
  readonly viewTimeout: number
  /** How long a worker may take to lend cached records: a request is waiting. */
  readonly lendTimeout: number
  /** How long a worker may take to give up part of a connection limit. */
  readonly shareTimeout: number
  /** After how many pings unused parts of such limits are shared evenly again. */
  readonly settleEvery: number
  readonly snapshotTimeout: number
  readonly cutTimeout: number
  /** How long running requests may take in a worker without a supervisor. */
  readonly orphanGrace: number
  /** How long writing the last lines of a worker's log may take. */
  readonly lastWords: number
}

export const usualSupervision: Supervision = {
  steadyLife: 10_000,
  minWait: 100,
  maxWait: 10_000,
  drainSlack: 2_000,
  reloadTimeout: 10_000,
  heartbeat: 1_000,
  maxMissed: 10,
  maxMissedAtStart: 60,
  stackTimeout: 2_000,
  viewTimeout: 1_000,
  lendTimeout: 100,
  shareTimeout: 1_000,
  settleEvery: 10,
  snapshotTimeout: 1_000,
  cutTimeout: 500,
  orphanGrace: 30_000,
  lastWords: 1_000,
}

/**
 * Returns the delay in ms before a crashed worker is restarted; half of it is random, so that workers do not
 * restart in step.
 */
export function backoff(
  attempt: number,
  { minWait, maxWait }: Pick<Supervision, 'minWait' | 'maxWait'>,
  random: () => number = Math.random,
): number {
  const ceiling = Math.min(maxWait, minWait * 2 ** attempt)
  return Math.round(ceiling * (0.5 + random() / 2))
}
