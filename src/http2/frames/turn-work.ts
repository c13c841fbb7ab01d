// How much sessions read in a turn of the event loop, all together, so that a turn is short whatever comes.

/** Work of a turn, in frames; and what a request counts as. */
export const workOfTurn = 1_024
export const workOfRequest = 64

export class TurnWork {
  /** What may still be read; whoever takes the last may take a little more. */
  left = workOfTurn
}
