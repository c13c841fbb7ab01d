// The keys of one provider, taken in turn; one that the provider turns away rests for a while. Called by the edge.

/** One key, and how it has fared. */
export interface Key {
  readonly value: string
  /** Its number in the configuration, from 1: a key itself is never told. */
  readonly place: number
  /** Monotonic ms until which it rests. */
  restsUntil: number
  /** How often in a row it was turned away without a word on how long. */
  failures: number
}

/** Ms that a key rests the first time without a word of the provider, and at most. */
const FIRST_REST = 1000
const LONGEST_REST = 5 * 60 * 1000
/** Ms that a word of the provider is good for: a wrong one must not cost the key for good. */
const LONGEST_WORD = 24 * 60 * 60 * 1000

export class KeyRing {
  readonly #keys: readonly Key[]
  #turn = 0

  constructor(values: readonly string[]) {
    this.#keys = values.map((value, i) => ({ value, place: i + 1, restsUntil: 0, failures: 0 }))
  }

  get size(): number {
    return this.#keys.length
  }

  /** Returns the key whose turn it is; where all rest, the one that is back first; null where there are none. */
  next(now: number): Key | null {
    const keys = this.#keys
    let soonest: Key | null = null
    for (let i = 0; i < keys.length; i++) {
      const key = keys[(this.#turn + i) % keys.length]!
      if (key.restsUntil <= now) {
        this.#turn = key.place % keys.length
        return key
      }
      if (soonest === null || key.restsUntil < soonest.restsUntil) soonest = key
    }
    return soonest
  }

  /** Returns the ms until a key is back; 0 while one is there. */
  wait(now: number): number {
    let shortest = Number.POSITIVE_INFINITY
    for (const { restsUntil } of this.#keys) shortest = Math.min(shortest, restsUntil - now)
    return Math.max(0, shortest)
  }

  /** Lets a key rest for as long as the provider says, in ms, or each time twice as long; returns for how long, or 0 where it rests so long already. */
  setAside(key: Key, now: number, word: number | null): number {
    const isResting = key.restsUntil > now
    // What was under way when it was turned away says the same once more.
    if (isResting && word === null) return 0
    const rest =
      word === null
        ? Math.min(FIRST_REST * 2 ** Math.min(key.failures++, 20), LONGEST_REST)
        : Math.min(Math.max(word, FIRST_REST), LONGEST_WORD)
    if (now + rest <= key.restsUntil) return 0
    key.restsUntil = now + rest
    return isResting ? 0 : rest
  }

  /** Notes that the provider took the key. */
  worked(key: Key): void {
    key.failures = 0
  }
}
