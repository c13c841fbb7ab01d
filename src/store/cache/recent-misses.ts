// Remembers keys that the store does not have, each in the one slot given by the hash of its end. A scan of
// random keys costs little, and displaces frequently requested keys no sooner than an LRU would.

/** Number of characters at the end of a key that are hashed: keys may share a prefix, the account. */
const hashedLength = 8

export class RecentMisses {
  readonly #keys: (string | undefined)[]
  readonly #until: Float64Array
  readonly #mask: number
  #isEmpty = true

  /** `places` must be a power of two. */
  constructor(places: number) {
    this.#keys = new Array<string | undefined>(places).fill(undefined)
    this.#until = new Float64Array(places)
    this.#mask = places - 1
  }

  until(key: string): number {
    const place = placeOf(key) & this.#mask
    return this.#keys[place] === key ? this.#until[place]! : Number.NEGATIVE_INFINITY
  }

  note(key: string, until: number): void {
    const place = placeOf(key) & this.#mask
    this.#keys[place] = key
    this.#until[place] = until
    this.#isEmpty = false
  }

  /** Forgets all keys, as every change of the store requires. */
  clear(): void {
    if (this.#isEmpty) return
    this.#keys.fill(undefined)
    this.#isEmpty = true
  }
}

/**
 * A counting filter over the ends of a cache's keys, so that most absent keys are recognised without a map
 * lookup: V8 interns each string that a map is asked for.
 */
export class KeySketch {
  readonly #counts: Uint16Array
  readonly #mask: number

  /** `places` must be a power of two. At most 65,535 keys may be counted at once. */
  constructor(places: number) {
    this.#counts = new Uint16Array(places)
    this.#mask = places - 1
  }

  mayHave(key: string): boolean {
    return this.#counts[placeOf(key) & this.#mask] !== 0
  }

  add(key: string): void {
    this.#counts[placeOf(key) & this.#mask]!++
  }

  remove(key: string): void {
    this.#counts[placeOf(key) & this.#mask]!--
  }
}

/** Hashes the end of a key to 32 bits (FNV-1a). */
function placeOf(key: string): number {
  let place = 0x811c9dc5
  for (let i = Math.max(0, key.length - hashedLength); i < key.length; i++)
    place = Math.imul(place ^ key.charCodeAt(i), 0x01000193)
  return place ^ (place >>> 15)
}
