// Waits for the disk of a server whose WAITAOF does not: Valkey (8.1 as tried, 9.1 as reported) and Redis 7.4
// reply once a write is in the file, which may be a second before it is synced (redis/redis#13793).

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../base/clock.ts'
import { linesOf } from './server-facts.ts'

/** After how long what was written is due, in ms: a second, by a clock that is read now and then. */
const syncPeriod = 1_100
/** Delay between two looks at a sync that has not ended, in ms. */
const pause = 50

/**
 * Returns whether all that was written before is synced, which takes more than a second; false if it is not
 * by `end`, in monotonic ms. `isSyncing` writes, too: if the file has been replaced, the new one is synced
 * after it.
 *
 * Once no sync is under way, none is put off for another one, so that what is not synced a second later is
 * due: the next look has the server begin, and once no sync is under way again, all is on the disk.
 */
export async function outwaitSync(
  isSyncing: () => Promise<boolean>,
  { clock, end }: { readonly clock: Clock; readonly end: number },
): Promise<boolean> {
  const isOver = async () => {
    while (await isSyncing()) {
      if (clock.monotonic() > end) return false
      await sleep(pause)
    }
    return true
  }
  if (!(await isOver())) return false
  await sleep(syncPeriod)
  await isSyncing()
  return isOver()
}

/** Whether a sync of the append-only file is under way, according to INFO; true if that does not tell. */
export function isSyncingIn(info: unknown): boolean {
  return typeof info !== 'string' || linesOf(info).get('aof_pending_bio_fsync') !== '0'
}
