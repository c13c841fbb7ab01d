// What this machine remembers of its store: the identity and the generation that it saw last.

import { randomBytes } from 'node:crypto'
import { readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../base/system/folders.ts'
import { writeNew } from '../../base/system/private-file.ts'
import type { Seen } from '../../store/contract/mark.ts'
import { dataFolder } from './location.ts'

export interface Remembered extends Seen {
  /** Where the store was, without credentials. */
  readonly location: string
}

const format = 1
const maxBytes = 4_096

/** Returns the path of the file; null for a store that ends with its process. */
export function memoryPath(location: string): string | null {
  return location === 'sqlite::memory:' ? null : join(dataFolder(), 'store.json')
}

/** Returns null if missing; rejects with a sentence if it cannot be read or was altered. */
export async function readMemory(path: string): Promise<Remembered | null> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null
    throw new Error(`${path} cannot be read (${cause.code})`, { cause })
  })
  if (text === null) return null
  const memory = parseMemory(text)
  if (memory === null) throw new Error(`${path} is damaged`)
  return memory
}

/** Writes the file atomically: a reader finds the old or the new one, also after a power cut. */
export async function writeMemory(path: string, memory: Remembered): Promise<void> {
  const { location, identity, generation, last, isBehind } = memory
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  await makeFolder(dirname(path), 0o700)
  try {
    await writeNew(draft, `${JSON.stringify({ format, location, identity, generation, last, isBehind })}\n`)
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {})
    throw cause
  }
}

export function parseMemory(text: string): Remembered | null {
  if (text.length > maxBytes) return null
  let memory: Partial<Record<string, unknown>> | null
  try {
    memory = JSON.parse(text)
  } catch {
    return null
  }
  const { location, identity, generation, last, isBehind } = memory ?? {}
  if (memory?.format !== format || typeof location !== 'string' || typeof isBehind !== 'boolean') return null
  if (typeof identity !== 'string' || !/^[0-9a-f]{32}$/.test(identity)) return null
  if (!Number.isSafeInteger(generation) || (generation as number) < 0) return null
  if (typeof last !== 'string' || !/^\d{0,20}$/.test(last)) return null
  return { location, identity, generation: generation as number, last, isBehind }
}
