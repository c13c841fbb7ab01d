// Other users of a store: the copy may miss what they write during copying.

import { readFileSync, statSync } from 'node:fs'
import type { Store } from '../../store/contract/store.ts'

export async function otherUsers({
  location,
  peers,
}: Pick<Store, 'location' | 'peers'>): Promise<string | null> {
  const users =
    peers === null
      ? processesOn(location.replace(/^sqlite:/, '')).map(pid => `process ${pid}`)
      : await machinesOn(peers)
  return users.length === 0 ? null : users.join(', ')
}

async function machinesOn(peers: NonNullable<Store['peers']>): Promise<readonly string[]> {
  const own = `gatehouse store ${process.pid}`
  const replies = await peers.exchange(own, '{}', shortest)
  return [...replies.keys()].filter(name => name !== own)
}

/** Ms. */
const shortest = 1

/** Other processes that have the SQLite file open hold a lock on its index (proc_locks(5)). */
function processesOn(file: string): readonly number[] {
  try {
    const { ino } = statSync(`${file}-shm`)
    const locks = readFileSync('/proc/locks', 'latin1').matchAll(/ (\d+) [0-9a-f]+:[0-9a-f]+:(\d+) /g)
    const pids = [...locks].flatMap(([, pid, inode]) => (Number(inode) === ino ? [Number(pid)] : []))
    return [...new Set(pids)].filter(pid => pid !== process.pid)
  } catch {
    return []
  }
}
