// How much all sessions together read in a turn of the event loop, so that no turn is long.

/** Work of all sessions in a turn of the event loop, in frames, and what a request counts as. */
export const workOfTurn = 1_024
export const workOfRequest = 64

export class TurnWork {
  /** The last session may exceed it a little. */
  left = workOfTurn
}
