// Whether the store is the one seen before, with all changes seen in it. One that comes back empty, older or
// as another is not used: anything missing, such as a rule that denies, would count as removed.

import type { DegradedCode, DegradedReason } from '../../metrics/counters/counts.ts'
import type { Degradation } from './degradation.ts'
import { isMoved, type Mark, type Seen } from './mark.ts'
import { StoreDegraded, type StoreTrust } from './store.ts'

type Doubt = DegradedReason & { readonly code: (typeof codes)[number] }

const codes = [
  'store_empty',
  'store_older',
  'store_other',
  'store_moved',
] as const satisfies readonly DegradedCode[]

const remedy =
  'Bring the store back as it was, or accept it as it is: run `gatehouse store accept` on this machine'

const moveRemedy =
  'Set `store.url` to the store that has its records now, and run `gatehouse upgrade`; to go on with this one instead, run `gatehouse store accept` on this machine'

const nothing: Mark = { identity: null, generation: 0, last: '' }

export class Trust implements StoreTrust {
  readonly #degradation: Degradation
  readonly #listeners = new Set<() => void>()
  #seen: Seen | null = null
  #isAhead = false
  #doubt: Doubt | null = null

  constructor(degradation: Degradation) {
    this.#degradation = degradation
  }

  get seen(): Seen | null {
    return this.#seen
  }

  get isDoubted(): boolean {
    return this.#doubt !== null
  }

  /** Whether the store had changes when it was last read that are not known to be confirmed. */
  get isAhead(): boolean {
    return this.#isAhead
  }

  expect(seen: Seen): void {
    this.#seen = seen
    this.#isAhead = false
    this.#settle(null)
    for (const listener of [...this.#listeners]) listener()
  }

  join(other: Seen): void {
    const seen = this.#seen
    if (seen === null || other.identity !== seen.identity) return
    if (other.generation > seen.generation) this.#seen = { ...other, isBehind: seen.isBehind }
    else if (other.isBehind) this.#seen = { ...seen, isBehind: true }
  }

  follow(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /**
   * Throws `StoreDegraded` unless the mark, read after the data, includes everything seen before the request.
   * A newer one counts as seen from now on if it is confirmed; otherwise a failover may undo it.
   */
  check(mark: Mark | null, seenBefore: Seen, isConfirmed = true): void {
    const seen = this.#seen ?? seenBefore
    const doubt = doubtOf(mark ?? nothing, seenBefore)
    const doubtNow = doubtOf(mark ?? nothing, seen)
    // Since the request, an operator has accepted the store as it is, or it came back whole.
    const isSettled = doubtNow === null || seenBefore.identity !== seen.identity
    if (doubt !== null && isSettled) throw new StoreDegraded(doubt)
    const isLate = doubt === null && doubtNow !== null
    if (isLate) return
    if (doubt?.code === 'store_older' && !seen.isBehind) this.#seen = { ...seen, isBehind: true }
    if (doubt === null && seen.isBehind) this.#seen = { ...seen, isBehind: false }
    this.#settle(doubt)
    if (doubt !== null) throw new StoreDegraded(doubt)
    this.#isAhead = mark!.generation > seen.generation
    if (isConfirmed) this.confirm(mark, seenBefore)
  }

  /** Counts a mark as seen whose changes are all confirmed, unless it lacks what was seen. */
  confirm(mark: Mark | null, seenBefore: Seen): void {
    const seen = this.#seen ?? seenBefore
    if (mark === null || mark.generation <= seen.generation) return
    if (doubtOf(mark, seenBefore) !== null || doubtOf(mark, seen) !== null) return
    this.#seen = { ...mark, identity: seen.identity, isBehind: false }
    this.#isAhead = false
  }

  /** Throws `StoreDegraded` while the store is doubted, for data that is read without its mark. */
  expectUsable(): void {
    if (this.#doubt !== null) throw new StoreDegraded(this.#doubt)
  }

  #settle(doubt: Doubt | null): void {
    this.#doubt = doubt
    for (const code of codes) this.#degradation.set(code, doubt?.code === code ? doubt : null)
  }
}

function doubtOf(mark: Mark, seen: Seen): Doubt | null {
  const { identity, generation } = mark
  const isSame = identity === seen.identity
  const isWhole = generation >= seen.generation
  // Lost changes may have been replaced by as many others: only the very last change that was seen proves
  // that all are present.
  const isExact = generation === seen.generation && mark.last === seen.last
  if (isSame && (seen.isBehind ? isExact : isExact || generation > seen.generation)) return null
  if (isMoved(mark))
    return {
      ...{ code: 'store_moved', remedy: moveRemedy },
      message: 'the records of the store were moved to another one, or are being moved',
    }
  if (identity === null || (!isSame && generation === 0))
    return {
      ...{ code: 'store_empty', remedy },
      message: `the store is empty, and this machine has seen it at generation ${seen.generation}`,
    }
  if (!isSame)
    return {
      ...{ code: 'store_other', remedy },
      message: `the store is another one than this machine has seen: ${identity.slice(0, 8)} instead of ${seen.identity.slice(0, 8)}`,
    }
  const missing = seen.generation - generation
  const loss =
    missing > 0
      ? `generation ${generation}, seen ${seen.generation}: the last ${missing === 1 ? 'change is' : `${missing} changes are`} missing`
      : `changes up to generation ${seen.generation} were lost, and others were made since`
  return {
    ...{ code: 'store_older', remedy },
    message: isWhole
      ? `the store has lost changes: ${loss}`
      : `the store is older than this machine has seen it: ${loss}`,
  }
}
