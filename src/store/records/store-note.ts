// A note in the store about the store itself.

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
  readonly createdAt: number
}
