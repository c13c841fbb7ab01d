// Removes credentials of this gateway from the bodies of log entries, which hardly ever have one: a search in
// many bodies at once costs less than one in each.

import {
  type BatchBodies,
  bodiesOf,
  changedBodies,
  joinedBodies,
  sizeOf,
  type StoredBodies,
} from '../store/log-batch/batch.ts'
import { eachSign, redactedBytes } from '../tokens/redaction.ts'
import { withoutPieces } from './pieces.ts'

/** Returns the given bodies if they have none; `isStream`: of the entry with that number. */
export function redactedBodies(bodies: BatchBodies, isStream: (entry: number) => boolean): BatchBodies {
  const suspects = suspectsIn(bodies)
  if (suspects.size === 0) return bodies
  const entries = bodiesOf(bodies)
  for (const at of suspects) entries[at] = redactedEntry(entries[at]!, isStream(at))
  return joinedBodies(entries)
}

/** Returns the numbers of entries whose bodies may have a credential. */
function suspectsIn({ bodies, layout }: BatchBodies): ReadonlySet<number> {
  const suspects = new Set<number>()
  let [entry, end] = [-1, 0]
  eachSign(bodies, at => {
    while (at >= end) {
      entry++
      for (let word = 3 * entry; word < 3 * entry + 3; word++) end += sizeOf(layout[word]!)
    }
    suspects.add(entry)
    return end
  })
  return suspects
}

function redactedEntry(bodies: StoredBodies, isStream: boolean): StoredBodies {
  let mayRepeat = false
  return changedBodies(bodies, (body, at, isBinary) => {
    const safe = redactedBytes(mayRepeat && !isBinary ? withoutPieces(body) : body)
    // A model may repeat in pieces what the request has.
    if (at === 0) mayRepeat = isStream && safe !== body
    return safe
  })
}
