// The note of a store on the key of client secrets.

import type { Records, Versioned } from './store.ts'
import { noteOwner, type StoreNote } from '../records/store-note.ts'

/** Returns the note; null where the store names no key. */
export function keyNoteOf(notes: Records<StoreNote>): Promise<Versioned<StoreNote> | null> {
  return notes.get(noteOwner, 'key')
}

/** Writes the id of the key in place of the note that was found; false, and nothing written, when it has changed since. */
export function writeKeyNote(
  notes: Records<StoreNote>,
  found: Versioned<StoreNote> | null,
  value: string,
  now: number,
): Promise<boolean> {
  const note: StoreNote = { account: noteOwner, id: 'key', value, createdAt: now }
  return found === null ? notes.insert(note) : notes.replace(note, found.version)
}
