// How long a gateway that starts or stops waits for its parts.

/** The timeouts and intervals of a gateway that starts and stops; in ms, except `maxTries` and `maxLooks`. */
export interface Timeouts {
  /** How long the data plane may take to stop, beyond the grace. */
  readonly drainSlack: number
  /** How long the admin listener may take for open requests when it stops. */
  readonly adminGrace: number
  readonly storeGrace: number
  /** How often a gateway that has released or shares its side port checks its owner. */
  readonly successionInterval: number
  /** How many checks a gateway that shares it makes before it stops sharing. */
  readonly maxLooks: number
  /** How many times a gateway tries to bind a side port that another one is releasing. */
  readonly maxTries: number
  /** How long the edge of a gateway that is stopping may take to release its ports. */
  readonly edgeRelease: number
  readonly appsDelay: number
}

export const defaultTimeouts: Timeouts = {
  drainSlack: 5_000,
  adminGrace: 2_000,
  storeGrace: 5_000,
  successionInterval: 500,
  maxLooks: 10,
  maxTries: 3,
  edgeRelease: 5_000,
  appsDelay: 1_000,
}
