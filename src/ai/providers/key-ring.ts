// The keys of one provider, used in turn; a key that the provider refuses rests for a while.

/** What a signature is about. */
export interface SignedRequest {
  readonly method: string
  readonly host: string
  /** With its query. */
  readonly path: string
  readonly region: string
  readonly body: Buffer | null
}

export interface Key {
  readonly value: string
  /** Writes the lines of a credential for one request; absent for a key that is sent as it is. */
  readonly sign?: ((request: SignedRequest) => string) | null
  /** Monotonic ms. */
  restsUntil: number
  /** Monotonic ms until which its provider asked it to rest, which may be longer. */
  saidUntil: number
  /** The rate limit fields with which it was last set aside: name, value, … */
  limits: readonly string[]
  /** With which it was last set aside; 0 for never. */
  status: number
  failures: number
  /** Monotonic ms at which the provider last accepted it; -Infinity if not since it was refused. */
  workedAt: number
}

/** The first and the longest rest of a key without a retry time, in ms. */
const firstRest = 1000
const longestRest = 5 * 60 * 1000
/** Ms; a key is tried again then, whatever the provider said: it may have been wrong. */
const longestWord = 24 * 60 * 60 * 1000
/** Ms for which a key that worked is considered valid. */
const trust = 10 * 60 * 1000

export class KeyRing {
  #keys: readonly Key[]
  #turn = 0

  /** Keys of the ring `before` keep their state, which calls that began with it still update. */
  constructor(values: readonly string[], before: KeyRing | null = null) {
    this.#keys = values.map(value => before?.keyOf(value) ?? fresh(value))
  }

  /** A ring of one key, whose value changes. */
  static of(key: Key): KeyRing {
    const ring = new KeyRing([])
    ring.#keys = [key]
    return ring
  }

  get all(): readonly Key[] {
    return this.#keys
  }

  get size(): number {
    return this.#keys.length
  }

  /** From 1, in the configuration: the key itself is never shown. */
  placeOf(key: Key): number {
    return this.#keys.indexOf(key) + 1
  }

  /** Except for keys that a call has tried; if all others rest, the first to be available; null for none. */
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

  hasAnother(now: number, tried: readonly Key[]): boolean {
    return this.#keys.some(key => key.restsUntil <= now && !tried.includes(key))
  }

  /** The resting key with the shortest wait, as stated by its provider; null if a key is available. */
  firstBack(now: number): Key | null {
    let first: Key | null = null
    for (const key of this.#keys) {
      if (key.restsUntil <= now) return null
      if (first === null || key.saidUntil < first.saidUntil) first = key
    }
    return first
  }

  /**
   * Rests as long as the provider says, in ms, or twice as long each time. Returns for how long, or 0 if it
   * already rests that long.
   */
  setAside(key: Key, now: number, word: number | null, limits: readonly string[] = none): number {
    const isResting = key.restsUntil > now
    // Requests that were in flight when it was refused get the same response.
    if (isResting && word === null) return 0
    const rest =
      word === null
        ? Math.min(firstRest * 2 ** Math.min(key.failures++, 20), longestRest)
        : Math.max(word, firstRest)
    if (isResting && now + rest <= key.saidUntil) return 0
    key.saidUntil = now + rest
    key.limits = limits
    key.restsUntil = Math.max(key.restsUntil, now + Math.min(rest, longestWord))
    return isResting ? 0 : rest
  }

  worked(key: Key, now: number): void {
    key.failures = 0
    key.workedAt = now
  }

  refused(key: Key): void {
    key.workedAt = Number.NEGATIVE_INFINITY
  }

  /** A refused call of a trusted key may itself be to blame. */
  isTrusted(key: Key, now: number): boolean {
    return now - key.workedAt < trust
  }

  keyOf(value: string): Key | undefined {
    return this.#keys.find(key => key.value === value)
  }
}

function fresh(value: string): Key {
  return {
    value,
    restsUntil: 0,
    saidUntil: 0,
    limits: none,
    status: 0,
    failures: 0,
    workedAt: Number.NEGATIVE_INFINITY,
  }
}

const none: readonly never[] = []
