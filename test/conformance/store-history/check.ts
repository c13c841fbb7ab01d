// Finds what a history contradicts: whether one record could have taken all of its operations, one after another, each within its time.

import type { Operation, Read, Span, Use, Write } from './history.ts'

export interface Promises {
  /** Ms for which a read may miss what was confirmed before it. */
  readonly readLag: number
  /** Ms for which a token is accepted after its removal was confirmed. */
  readonly useLag: number
  /** The same where something was broken meanwhile. */
  readonly useLagInTrouble: number
  readonly faults: readonly Span[]
  /** When a gateway was slow in all that it does, as where the machine is busy: it reads so much later. */
  readonly pauses: readonly Span[]
}

/**
 * What became of a record: `lagging` has reads that missed what was confirmed less than `readLag` before; `unconfirmed`
 * has reads of writes that were never confirmed, and were taken back. Both are within what is promised. `undecided` took
 * too long to search.
 */
export type Verdict =
  | 'sound'
  | 'lagging'
  | 'unconfirmed'
  | 'undecided'
  | 'lost'
  | 'undone'
  | 'stale'
  | 'accepted'
  | 'refused'

export interface Finding {
  readonly key: string
  readonly verdict: Verdict
  /** The operations until the first that contradicts, which is the last of them. */
  readonly operations: readonly Operation[]
}

const most = 300_000

/** Judges each record of a history, and the uses of each. */
export function check(operations: readonly Operation[], promises: Promises): readonly Finding[] {
  return [...Map.groupBy(operations, ({ key }) => key)].flatMap(([key, all]) => {
    const verdict = judge(all, promises)
    const change = {
      key,
      verdict,
      operations: verdict === 'sound' ? [] : untilContradiction(all, verdict, promises),
    }
    return [change, ...misuses(key, all, promises)]
  })
}

function judge(all: readonly Operation[], promises: Promises): Verdict {
  const writes = all.filter(isWrite)
  const reads = all.filter(isRead)
  const early = reads.map(read => (read.isFinal ? read : { ...read, began: earliest(read, promises) }))
  const strict = isLinearizable([...writes, ...reads])
  if (strict !== false) return strict === null ? 'undecided' : 'sound'
  if (isLinearizable([...writes, ...early])) return 'lagging'
  const confirmed = early.filter(read => isConfirmed(read, writes))
  if (isLinearizable([...writes, ...confirmed])) return 'unconfirmed'
  const finals = reads.filter(({ isFinal }) => isFinal)
  if (isLinearizable([...writes, ...finals])) return 'stale'
  return writes.some(({ value }) => value === null) && finals.some(({ value }) => value !== null)
    ? 'undone'
    : 'lost'
}

/** Returns when a read may have been made, by what it may miss. */
function earliest({ began, ended }: Read, { readLag, pauses }: Promises): number {
  const from = began - readLag
  const met = pauses.filter(pause => pause.began <= ended && pause.ended >= from)
  return from - Math.max(0, ...met.map(pause => pause.ended - pause.began))
}

/** Whether a value was confirmed before it was read: another may be taken back by a failover. */
function isConfirmed({ value, ended }: Read, writes: readonly Write[]): boolean {
  const of = writes.filter(write => write.value === value)
  return of.length === 0 || of.some(write => write.ended <= ended)
}

/**
 * Searches for an order of all operations that fits their times and what they read (Wing and Gong, Testing and verifying
 * concurrent objects, 1993). Writes without an end may be left out. Null if it would take too long.
 */
export function isLinearizable(operations: readonly (Write | Read)[]): boolean | null {
  const seen = new Set(operations.flatMap(one => (one.kind === 'read' ? [one.value] : [one.expected])))
  const all = operations
    .filter(one => one.ended !== Infinity || (one.kind === 'write' && seen.has(one.value)))
    .sort((a, b) => a.began - b.began)
  const tried = new Set<string>()
  const stack: Position[] = [{ state: null, next: 0, open: [] }]
  for (let steps = 0; stack.length > 0; steps++) {
    if (steps > most) return null
    const position = stack.pop()!
    const { state, next, open } = position
    const name = `${state} ${next} ${open.join()}`
    if (tried.has(name)) continue
    tried.add(name)
    if (next === all.length && open.every(i => all[i]!.ended === Infinity)) return true
    stack.push(...movesFrom(all, position))
  }
  return false
}

/** All before `next` are done, but those that are open. */
interface Position {
  readonly state: string | null
  readonly next: number
  readonly open: readonly number[]
}

function* movesFrom(all: readonly (Write | Read)[], { state, next, open }: Position): Generator<Position> {
  const deadline = Math.min(...open.map(i => all[i]!.ended))
  if (next < all.length && all[next]!.began <= deadline)
    yield { state, next: next + 1, open: [...open, next] }
  for (const i of open) {
    const one = all[i]!
    const rest = () => open.filter(other => other !== i)
    if (one.kind === 'read') {
      if (one.value === state) yield { state, next, open: rest() }
    } else if (one.expected === undefined || one.expected === state)
      yield { state: one.value, next, open: rest() }
  }
}

/** Returns the shortest beginning of a history that is as bad; the last operation is the one that contradicts. */
function untilContradiction(
  all: readonly Operation[],
  verdict: Verdict,
  promises: Promises,
): readonly Operation[] {
  if (verdict === 'undecided') return all
  const ends = all.filter(({ ended }) => ended !== Infinity).sort((a, b) => a.ended - b.ended)
  let [low, high] = [0, ends.length]
  while (low + 1 < high) {
    const middle = (low + high) >> 1
    if (judge(until(all, ends[middle - 1]!.ended), promises) === 'sound') low = middle
    else high = middle
  }
  const last = ends[high - 1]!
  const before = until(all, last.ended).filter(one => one !== last && one.kind !== 'use')
  return [...before, last]
}

/** What a history was at a time: what had not ended then may end at any time. */
function until(all: readonly Operation[], at: number): readonly Operation[] {
  return all
    .filter(({ began }) => began <= at)
    .map(one => (one.ended <= at ? one : { ...one, ended: Infinity }))
    .filter(one => one.kind === 'write' || one.ended !== Infinity)
}

function misuses(key: string, all: readonly Operation[], promises: Promises): readonly Finding[] {
  const writes = all.filter(isWrite)
  const made = writes.find(({ value }) => value !== null)
  const removals = writes.filter(({ value }) => value === null)
  const removed = Math.min(...removals.map(({ ended }) => ended))
  const touched = Math.min(...removals.map(({ began }) => began))
  return all.filter(isUse).flatMap((use): Finding[] => {
    const operations = [...writes, use]
    if (use.isAccepted)
      return use.began > removed + lagFor({ began: removed, ended: use.began }, promises)
        ? [{ key, verdict: 'accepted', operations }]
        : []
    const isLive = made !== undefined && made.ended < use.began && use.ended < touched
    return isLive ? [{ key, verdict: 'refused', operations }] : []
  })
}

function lagFor({ began, ended }: Span, { useLag, useLagInTrouble, faults, pauses }: Promises): number {
  // A fault leaves its mark for a while: connections are made again, and what waited is read.
  const troubles = [...faults, ...pauses]
  const isTroubled = troubles.some(one => one.began <= ended && one.ended + useLagInTrouble >= began)
  return isTroubled ? useLagInTrouble : useLag
}

const isWrite = (one: Operation): one is Write => one.kind === 'write'
const isRead = (one: Operation): one is Read => one.kind === 'read'
const isUse = (one: Operation): one is Use => one.kind === 'use'
