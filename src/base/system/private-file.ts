// Writes files atomically: whole or not at all.

import { open } from 'node:fs/promises'

/** Writes a new file that only its owner may read, and syncs it to disk; rejects if the file exists. */
export async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
