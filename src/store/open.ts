// Opens the store that a URL names.

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Store } from './contract/store.ts'
import type { RedisOptions } from './redis/redis-store.ts'
import type { SqliteOptions } from './sqlite/sqlite-store.ts'

/** `mustExist`: a missing or empty file is refused instead of created. */
export type StoreOptions = SqliteOptions & RedisOptions & { readonly mustExist?: boolean }

const redisUrl = /^rediss?(\+(sentinel|cluster))?:\/\//

/**
 * Opens the store that a URL names: sqlite:PATH, sqlite::memory:, redis://, rediss://, redis+sentinel:// or
 * redis+cluster://. Rejects with a sentence, which contains no part of the URL but a path, if the store
 * cannot be used; with an unreachable server, it opens as unreachable and keeps trying.
 */
export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const path = sqlitePath(url.slice('sqlite:'.length))
    if (options.mustExist) expectContent(path)
    const { SqliteStore } = await import('./sqlite/sqlite-store.ts')
    return SqliteStore.open(path, options)
  }
  if (redisUrl.test(url)) {
    const { RedisStore } = await import('./redis/redis-store.ts')
    return RedisStore.open(url, options)
  }
  throw new Error(
    'the store URL must begin with sqlite:, redis://, rediss://, redis+sentinel:// or redis+cluster://',
  )
}

/** Returns the path after `sqlite:`, taken literally: without host, parameters or percent-encoding. */
function sqlitePath(path: string): string {
  if (path === ':memory:') return path
  if (path === '') throw new Error('the store URL names no file: use sqlite:PATH')
  if (path.startsWith('//'))
    throw new Error(
      'the store URL must not have a host: use sqlite:PATH, such as sqlite:/var/lib/gatehouse.db',
    )
  if (/[?#\0]/.test(path))
    throw new Error('the store URL must not have parameters: the path after sqlite: cannot contain ? or #')
  if (path.endsWith('/')) throw new Error('the store URL names a directory: use sqlite:PATH of a file')
  return path
}

/** Whether opening the store would not create its file. Always true for servers. */
export function isThere(url: string): boolean {
  if (!url.startsWith('sqlite:')) return true
  const path = url.slice('sqlite:'.length)
  if (path === ':memory:') return true
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // This user may not look there: opening it says so.
    return true
  }
}

function expectContent(path: string): void {
  if (path === ':memory:') return
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file) throw new Error(`file ${resolve(path)} not found`)
  if (file.size === 0) throw new Error(`${resolve(path)} is an empty file, not a store`)
}
