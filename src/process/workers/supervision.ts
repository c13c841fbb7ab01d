// The timeouts of a supervisor for its workers, and of workers without one.

/** All in ms, except the pings that may be missed. */
export const usualSupervision = {
  steadyLife: 10_000,
  minWait: 100,
  maxWait: 10_000,
  drainSlack: 2_000,
  /** How long a worker may take to reload; one that has just been started has yet to listen. */
  reloadTimeout: 10_000,
  heartbeat: 1_000,
  /** Counted rather than timed: after the machine was suspended no worker is late. */
  maxMissed: 10,
  /** It loads its code first. */
  maxMissedAtStart: 60,
  stackTimeout: 2_000,
  /** How long a worker may take to report its pools; a late one is not killed for it. */
  viewTimeout: 1_000,
  /** How long a worker may take to lend cached records: a request is waiting. */
  lendTimeout: 100,
  shareTimeout: 1_000,
  settleEvery: 10,
  snapshotTimeout: 1_000,
  cutTimeout: 500,
  orphanGrace: 30_000,
  lastWords: 1_000,
}

export type Supervision = Readonly<typeof usualSupervision>

/** In ms; half of the delay is random, so that workers do not restart in step. */
export function backoff(
  attempt: number,
  { minWait, maxWait }: Pick<Supervision, 'minWait' | 'maxWait'>,
  random: () => number = Math.random,
): number {
  const ceiling = Math.min(maxWait, minWait * 2 ** attempt)
  return Math.round(ceiling * (0.5 + random() / 2))
}
