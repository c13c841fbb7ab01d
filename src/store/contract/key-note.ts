// The note in a store that names the key of client secrets.

import type { Records, Versioned } from './store.ts'
import { noteOwner, type StoreNote } from '../records/store-note.ts'

/** Returns the note; null if the store names no key. */
export function keyNoteOf(notes: Records<StoreNote>): Promise<Versioned<StoreNote> | null> {
  return notes.get(noteOwner, 'key')
}

/** Replaces the note that the caller read; false if it has changed since. */
export function writeKeyNote(
  notes: Records<StoreNote>,
  previous: Versioned<StoreNote> | null,
  value: string,
  now: number,
): Promise<boolean> {
  const note: StoreNote = { account: noteOwner, id: 'key', value, createdAt: now }
  return previous === null ? notes.insert(note) : notes.replace(note, previous.version)
}
