// A note in the store about the store itself.

/** The owner of notes, which belong to no account. */
export const noteOwner = 'store'

/**
 * `copy`: records of another store are being copied to this one, and the copy is incomplete. `key`: the key
 * that client secrets are made with.
 */
type NoteId = 'copy' | 'key'

export interface StoreNote {
  readonly account: typeof noteOwner
  readonly id: NoteId
  /** For a copy, the location of the other store; for a key, its id, which reveals nothing about it. */
  readonly value: string
  /** Ms since the epoch. */
  readonly createdAt: number
}
