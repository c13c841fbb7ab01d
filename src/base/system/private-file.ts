// Files that only their owner may read. As root, new ones go to the owner of their folder: what a command of
// root leaves there, the gateway could not read otherwise, since it has a user of its own.

import { closeSync, fchownSync, openSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a new file and syncs it to disk; rejects if the file exists. */
export async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    giveToOwner(file.fd, path)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Creates an empty file if there is none; throws if it cannot be written to. */
export function makePrivateFile(path: string): void {
  let file: number
  try {
    file = openSync(path, 'ax', 0o600)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'EEXIST') throw failure
    return closeSync(openSync(path, 'a', 0o600))
  }
  giveToOwner(file, path)
  closeSync(file)
}

/** By its descriptor: the owner of the folder could put a link to another file in the place of a path. */
function giveToOwner(file: number, path: string): void {
  if (process.geteuid?.() !== 0) return
  try {
    const { uid, gid } = statSync(dirname(path))
    if (uid !== 0) fchownSync(file, uid, gid)
  } catch {
    // A root that may not, as in some containers, keeps it.
  }
}
