// What a store says of itself, for whoever opens it.

/** The owner of notes: they belong to no account. */
export const noteOwner = 'store'

/** `copy`: records of another store are being copied to this one, and not all of them are there. */
type NoteId = 'copy'

export interface StoreNote {
  readonly account: typeof noteOwner
  readonly id: NoteId
  /** Of a copy, the location of the other store. */
  readonly value: string
  /** Ms since the epoch. */
  readonly createdAt: number
}
