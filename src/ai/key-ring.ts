// The keys of one provider, taken in turn; one that the provider turns away rests for a while.

/** One key, and how it has fared. */
export interface Key {
  readonly value: string
  /** Monotonic ms until which it rests. */
  restsUntil: number
  /** How often in a row it was turned away without a word on how long. */
  failures: number
  /** Monotonic ms at which the provider took it last; -Infinity where it did not since it was refused. */
  workedAt: number
}

/** Ms that a key rests the first time without a word of the provider, and at most. */
const firstRest = 1000
const longestRest = 5 * 60 * 1000
/** Ms that a word of the provider is good for: a wrong one must not cost the key for good. */
const longestWord = 24 * 60 * 60 * 1000
/** Ms for which a key that worked is known to be good. */
const trust = 10 * 60 * 1000

export class KeyRing {
  readonly #keys: readonly Key[]
  #turn = 0

  /** Takes from the ring `before` what is known of the keys that stay, so that calls that began with that one go on to tell of them. */
  constructor(values: readonly string[], before: KeyRing | null = null) {
    this.#keys = values.map(value => before?.keyOf(value) ?? fresh(value))
  }

  get size(): number {
    return this.#keys.length
  }

  /** Returns the number of a key in the configuration, from 1: a key itself is never told. */
  placeOf(key: Key): number {
    return this.#keys.indexOf(key) + 1
  }

  /** Returns the key whose turn it is, but for those that a call has tried; where all others rest, the one that is back first; null where there are none. */
  next(now: number, tried: readonly Key[] = none): Key | null {
    const keys = this.#keys
    let soonest: Key | null = null
    for (let i = 0; i < keys.length; i++) {
      const at = (this.#turn + i) % keys.length
      const key = keys[at]!
      if (tried.includes(key)) continue
      if (key.restsUntil <= now) {
        this.#turn = (at + 1) % keys.length
        return key
      }
      if (soonest === null || key.restsUntil < soonest.restsUntil) soonest = key
    }
    return soonest
  }

  /** Whether there is a key that does not rest, beside those that a call has tried. */
  hasAnother(now: number, tried: readonly Key[]): boolean {
    return this.#keys.some(key => key.restsUntil <= now && !tried.includes(key))
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
        ? Math.min(firstRest * 2 ** Math.min(key.failures++, 20), longestRest)
        : Math.min(Math.max(word, firstRest), longestWord)
    if (now + rest <= key.restsUntil) return 0
    key.restsUntil = now + rest
    return isResting ? 0 : rest
  }

  /** Notes that the provider took the key. */
  worked(key: Key, now: number): void {
    key.failures = 0
    key.workedAt = now
  }

  /** Notes that the provider does not know the key. */
  refused(key: Key): void {
    key.workedAt = Number.NEGATIVE_INFINITY
  }

  /** Whether the provider took the key of late, so that a call that it is turned away with may be to blame itself. */
  isTrusted(key: Key, now: number): boolean {
    return now - key.workedAt < trust
  }

  keyOf(value: string): Key | undefined {
    return this.#keys.find(key => key.value === value)
  }
}

function fresh(value: string): Key {
  return { value, restsUntil: 0, failures: 0, workedAt: Number.NEGATIVE_INFINITY }
}

const none: readonly Key[] = []
