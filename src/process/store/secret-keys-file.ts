// The keys of client secrets: those of the configuration, else one in the data folder.

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { makeFolder } from '../../base/system/folders.ts'
import { writeNew } from '../../base/system/private-file.ts'
import { parseSecretKey } from '../../config/shape/secret-key.ts'

const keyLength = 32
const isWindows = process.platform === 'win32'

/** Rejects with a sentence. Concurrent processes agree on one key; `made` is called only in its creator. */
export async function loadSecretKeys(
  { key, oldKeys }: { readonly key: string | null; readonly oldKeys: readonly string[] },
  dataFolder: string,
  made: (path: string) => void = () => {},
): Promise<SecretKeys> {
  const current = key === null ? await keyOfFolder(dataFolder, made) : keyOf(key, 'secrets.key')
  return withOld(current, oldKeys)
}

/** Returns null if a key would have to be created. Rejects as `loadSecretKeys` does. */
export async function findSecretKeys(
  { key, oldKeys }: Parameters<typeof loadSecretKeys>[0],
  dataFolder: string,
): Promise<SecretKeys | null> {
  const current = key === null ? await readKey(join(dataFolder, 'secrets.key')) : keyOf(key, 'secrets.key')
  return current === null ? null : withOld(current, oldKeys)
}

function withOld(current: Buffer, oldKeys: readonly string[]): SecretKeys {
  return new SecretKeys(
    current,
    oldKeys.map(old => keyOf(old, 'secrets.old_keys')),
  )
}

async function keyOfFolder(folder: string, made: (path: string) => void): Promise<Buffer> {
  const path = join(folder, 'secrets.key')
  try {
    return (await readKey(path)) ?? (await makeKey(folder, path, made))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === undefined) throw cause
    throw new Error(
      `${path} cannot be read or created (${code}): give the process a folder that it can write to, or set secrets.key`,
      { cause },
    )
  }
}

async function readKey(path: string): Promise<Buffer | null> {
  // Non-blocking, in case it is a pipe.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(ifCode('ENOENT'))
  if (file === null) return null
  try {
    await expectPrivate(file, path)
    return keyOf((await file.readFile('latin1')).trim(), path)
  } finally {
    await file.close()
  }
}

async function expectPrivate(file: FileHandle, path: string): Promise<void> {
  const stats = await file.stat()
  if (!stats.isFile()) throw new Error(`${path} must be a file`)
  const forOthers = constants.S_IRWXG | constants.S_IRWXO
  if (!isWindows && (stats.mode & forOthers) !== 0)
    throw new Error(`${path} must be readable only by its owner: run chmod 600 ${path}`)
}

/** Links a complete key on disk to its name: unlike a move, a link replaces no file. */
async function makeKey(folder: string, path: string, made: (path: string) => void): Promise<Buffer> {
  await makeFolder(folder)
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  let isOurs = false
  try {
    await writeNew(draft, `${randomBytes(keyLength).toString('base64url')}\n`)
    isOurs = (await link(draft, path).catch(ifCode('EEXIST'))) !== null
  } finally {
    await unlink(draft).catch(ifCode('ENOENT'))
  }
  await syncFolder(folder)
  const key = await readKey(path)
  if (key === null) throw new Error(`${path} was removed just after it was created`)
  if (isOurs) made(path)
  return key
}

/** Windows cannot sync folders, and need not. */
async function syncFolder(path: string): Promise<void> {
  if (isWindows) return
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

function keyOf(text: string, place: string): Buffer {
  const key = parseSecretKey(text)
  if (key === null) throw new Error(`${place} must be at least 32 random bytes in hex, base64 or base64url`)
  return key
}

function ifCode(code: string): (failure: NodeJS.ErrnoException) => null {
  return failure => {
    if (failure.code === code) return null
    throw failure
  }
}
