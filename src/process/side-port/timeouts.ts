// How long a gateway that starts or stops waits for its parts.

/** The timeouts and intervals of a gateway that starts and stops; in ms, except `maxTries` and `maxLooks`. */
export const defaultTimeouts = {
  /** How long the data plane may take to stop, beyond the grace. */
  drainSlack: 5_000,
  adminGrace: 2_000,
  storeGrace: 5_000,
  successionInterval: 500,
  maxLooks: 10,
  maxTries: 3,
  edgeRelease: 5_000,
  appsDelay: 1_000,
}

export type Timeouts = Readonly<typeof defaultTimeouts>
