// Opens the store that a URL names.

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import type { StoreMetrics } from '../metrics/counters/store-metrics.ts'
import type { Store } from './contract/store.ts'

export interface StoreOptions {
  /** Timeout of a command, in ms. */
  readonly commandTimeout: number
  readonly clock?: Clock
  /** Counters for waiting and refused writes. */
  readonly metrics?: StoreMetrics
  /** The certificate authorities for rediss:, in PEM; null for those that Node trusts. */
  readonly ca?: string | null
  /** The user and password for Sentinels that require one. */
  readonly sentinel?: { readonly username: string | null; readonly password: string | null }
  /** Whether a thread appends log entries to SQLite, for processes that must not wait for the disk. */
  readonly hasLogThread?: boolean
  /** Whether a missing or empty file is refused instead of created. */
  readonly mustExist?: boolean
  /** The `openFiles` of another process of the gateway: opens exactly these files and creates none. */
  readonly joins?: string | null
  /**
   * Whether to read the file as it was when opened, whatever is written to it later. A snapshot cannot be
   * written.
   */
  readonly isSnapshot?: boolean
  /**
   * Whether to open an unsuitable Redis as unreachable instead of rejecting. Workers do, since the gateway
   * process reports the fault.
   */
  readonly opensUnfit?: boolean
}

const redisUrl = /^rediss?(\+(sentinel|cluster))?:\/\//

/**
 * Opens the store that a URL names: sqlite:PATH, sqlite::memory:, redis://, rediss://, redis+sentinel:// or
 * redis+cluster://. Rejects with a sentence, which contains no part of the URL but a path, if the store
 * cannot be used. An unreachable server is no reason to reject: the store opens as unreachable and keeps
 * trying.
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
  return path === ':memory:' || existsSync(path)
}

function expectContent(path: string): void {
  if (path === ':memory:') return
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file) throw new Error(`file ${resolve(path)} not found`)
  if (file.size === 0) throw new Error(`${resolve(path)} is an empty file, not a store`)
}
