// Whether another store was copied to this one in part: its rules that deny may be among what is missing.

import { noteOwner } from '../../store/records/store-note.ts'
import type { Store } from '../../store/contract/store.ts'

/** Has a store that holds an unfinished copy not trusted, and one whose copy is complete trusted again. Returns whether it holds none; rejects with `StoreUnreachable`. */
export async function isWhole(store: Store): Promise<boolean> {
  const note = await store.notes.get(noteOwner, 'copy')
  if (note === null) store.degradation.set('copy_unfinished', null)
  else {
    const { value, createdAt } = note.record
    const begun = new Date(createdAt).toISOString()
    store.degradation.set('copy_unfinished', {
      message: `it holds an unfinished copy of ${value}, begun at ${begun}`,
      remedy: 'Run the same gatehouse store copy again',
    })
  }
  return note === null
}
