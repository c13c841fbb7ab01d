// Makes folders with their parents. Node's own way never returns where a folder exists and yet takes nothing:
// in /proc, and below a working folder that was removed.

import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Does nothing if it exists; new parents get the same mode. */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(path, mode)
  } catch (failure) {
    if (await isFolder(path)) return
    const parent = dirname(path)
    if ((failure as NodeJS.ErrnoException).code !== 'ENOENT' || (await isFolder(parent))) throw failure
    await makeFolder(parent, mode)
    await makeFolder(path, mode)
  }
}

export function makeFolderSync(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, mode)
  } catch (failure) {
    if (isFolderSync(path)) return
    const parent = dirname(path)
    if ((failure as NodeJS.ErrnoException).code !== 'ENOENT' || isFolderSync(parent)) throw failure
    makeFolderSync(parent, mode)
    makeFolderSync(path, mode)
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false
}

function isFolderSync(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
