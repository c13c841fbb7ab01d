// How much all sessions together read in a turn of the event loop, so that no turn is long.

/** Work of a turn, in frames, and what a request counts as. */
export const workOfTurn = 1_024
export const workOfRequest = 64

export class TurnWork {
  /** What may still be read; the last session may exceed it a little. */
  left = workOfTurn
}
