// `gatehouse store copy`: everything from one store into an empty one, to move from a file to Redis or back.

import { copyStore } from '../../store/copy.ts'
import type { Store } from '../../store/store.ts'
import type { Input } from '../input.ts'
import { tell } from '../terminal.ts'
import { withStore } from '../with-store.ts'

/** Returns 0 when all was copied, 1 when a store refuses, 2 for mistakes of the caller. */
export async function store({ args: [verb], from, to }: Input): Promise<number> {
  if (verb !== 'copy' || from === undefined || to === undefined) {
    tell('gatehouse: usage: gatehouse store copy --from URL --to URL')
    return 2
  }
  return withStore(from, source => withStore(to, target => copy(source, target)))
}

async function copy(source: Store, target: Store): Promise<number> {
  const copied = await copyStore(source, target)
  const counts = Object.entries(copied).map(([kind, count]) => `${count} ${kind}`)
  tell(`Copied ${counts.join(', ')} from ${source.location} to ${target.location}.`)
  return 0
}
