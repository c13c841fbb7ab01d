// How long a gateway that starts or stops waits for its parts.

/** The timeouts and intervals of a gateway that starts and stops; in ms, except `mostTries` and `mostLooks`. */
export interface Patience {
  /** How long the data plane may take to stop, beyond the grace. */
  readonly drainSlack: number
  /** How long the admin listener may take for open requests when it stops. */
  readonly adminGrace: number
  /** How long queued writes may take. */
  readonly storeGrace: number
  /** How often a gateway that has released or shares its side port checks who has it. */
  readonly successionInterval: number
  /** How often one that shares it checks before it has it alone again. */
  readonly mostLooks: number
  /** How often a gateway tries to bind a side port that another one is releasing. */
  readonly mostTries: number
  /** How long the edge of a gateway that is stopping may take to release its ports. */
  readonly edgePatience: number
  /** How long after the start the code of the pages is loaded. */
  readonly appsDelay: number
}

export const usualPatience: Patience = {
  drainSlack: 5_000,
  adminGrace: 2_000,
  storeGrace: 5_000,
  successionInterval: 500,
  mostLooks: 10,
  mostTries: 3,
  edgePatience: 5_000,
  appsDelay: 1_000,
}
