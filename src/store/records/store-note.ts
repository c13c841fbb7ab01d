// A note in the store about the store itself.

export const noteOwner = 'store'

/**
 * `copy`: records of another store are being copied to this one, and the copy is incomplete. `key`: the key
 * that client secrets are made with. `moved`: the records were moved to another store.
 */
type NoteId = 'copy' | 'key' | 'moved'

export interface StoreNote {
  readonly account: typeof noteOwner
  readonly id: NoteId
  /**
   * For a copy, the location of the other store; for a key, its id, which reveals nothing about it; for a
   * move, the identity that the store got by it and the location of the other store, with a space in between.
   */
  readonly value: string
  readonly createdAt: number
}
