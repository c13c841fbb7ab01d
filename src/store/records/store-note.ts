// What a store says of itself, for whoever opens it.

/** The owner of notes: they belong to no account. */
export const noteOwner = 'store'

/** `copy`: records of another store are being copied to this one, and not all of them are there. `key`: under which key client secrets are made. */
type NoteId = 'copy' | 'key'

export interface StoreNote {
  readonly account: typeof noteOwner
  readonly id: NoteId
  /** Of a copy, the location of the other store; of a key, its id, which tells nothing of it. */
  readonly value: string
  /** Ms since the epoch. */
  readonly createdAt: number
}
