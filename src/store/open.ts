// Opens the store: from a URL to a backend.

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import type { StoreMetrics } from '../metrics/counters/store-metrics.ts'
import type { Store } from './contract/store.ts'

export interface StoreOptions {
  /** Ms after which a command without a reply rejects. */
  readonly commandTimeout: number
  readonly clock?: Clock
  /** Where it counts writes that wait or are refused. */
  readonly metrics?: StoreMetrics
  /** The authorities that rediss: trusts, in PEM; those that Node trusts where there is none. */
  readonly ca?: string | null
  /** The user and password for Sentinels that require one. */
  readonly sentinel?: { readonly username: string | null; readonly password: string | null }
  /** Whether log entries are appended to SQLite by a thread, as is right for processes that must not wait for the disk. */
  readonly hasLogThread?: boolean
  /** Whether a missing or empty file is refused instead of created. */
  readonly mustExist?: boolean
  /** The `openFiles` of another process of the gateway: these are opened, and none are made. */
  readonly joins?: string | null
  /** Whether what is read of a file is what it held when it was opened, whatever is written to it meanwhile; nothing can be written then. */
  readonly isSnapshot?: boolean
  /** Whether a Redis that cannot be the store opens as unreachable, as in a worker: its gateway says so. */
  readonly opensUnfit?: boolean
}

const redisUrl = /^rediss?(\+(sentinel|cluster))?:\/\//

/**
 * Opens the store that a URL names: sqlite:PATH, sqlite::memory:, redis://, rediss://, redis+sentinel:// or redis+cluster://. Rejects with a sentence, in which no part
 * of the URL but a path appears, when it cannot be used; an unreachable server is no reason: the store opens as unreachable and keeps trying.
 */
export async function openStore(
  url: string,
  {
    commandTimeout,
    clock = systemClock,
    metrics,
    hasLogThread,
    mustExist = false,
    joins = null,
    isSnapshot = false,
    ...dialling
  }: StoreOptions,
): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const path = sqlitePath(url.slice('sqlite:'.length))
    if (mustExist) expectContent(path)
    const { SqliteStore } = await import('./sqlite/sqlite-store.ts')
    return SqliteStore.open(path, { commandTimeout, clock, metrics, hasLogThread, joins, isSnapshot })
  }
  if (redisUrl.test(url)) {
    const { RedisStore } = await import('./redis/redis-store.ts')
    return RedisStore.open(url, { commandTimeout, clock, ...dialling })
  }
  throw new Error(
    'the store URL must begin with sqlite:, redis://, rediss://, redis+sentinel:// or redis+cluster://',
  )
}

/** Returns the path after `sqlite:`, taken literally: no host, no parameters, no percent-encoding. */
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

/** Whether opening the store would not create its file; a server is asked only then. */
export function isThere(url: string): boolean {
  if (!url.startsWith('sqlite:')) return true
  const path = url.slice('sqlite:'.length)
  return path === ':memory:' || existsSync(path)
}

function expectContent(path: string): void {
  if (path === ':memory:') return
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file) throw new Error(`file ${resolve(path)} not found`)
  if (file.size === 0) throw new Error(`${resolve(path)} is an empty file, not a store`)
}
