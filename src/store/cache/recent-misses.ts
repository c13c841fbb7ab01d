// Remembers keys for which the store has nothing, each in the one place that its end leads to: a scan of random keys costs little, and displaces those that are asked
// for again and again no sooner than they would be in order of use.

/** Characters at the end of a key that tell its place: keys may begin with the same account. */
const told = 8

export class RecentMisses {
  readonly #keys: (string | undefined)[]
  readonly #until: Float64Array
  readonly #mask: number
  #isEmpty = true

  /** `places` is a power of two. */
  constructor(places: number) {
    this.#keys = Array.from({ length: places })
    this.#until = new Float64Array(places)
    this.#mask = places - 1
  }

  /** Returns until when a key is known to be missing; -Infinity where it is not. */
  until(key: string): number {
    const place = placeOf(key) & this.#mask
    return this.#keys[place] === key ? this.#until[place]! : Number.NEGATIVE_INFINITY
  }

  /** Notes that a key is missing, in place of what had its place. */
  note(key: string, until: number): void {
    const place = placeOf(key) & this.#mask
    this.#keys[place] = key
    this.#until[place] = until
    this.#isEmpty = false
  }

  /** Forgets all, which each change of the store asks for. */
  clear(): void {
    if (this.#isEmpty) return
    this.#keys.fill(undefined)
    this.#isEmpty = true
  }
}

/** Counts the keys of a cache by their ends, so that most keys that it lacks are known to be no part of it: V8 enters each text that a map is asked for in a table of all texts. */
export class KeySketch {
  readonly #counts: Uint16Array
  readonly #mask: number

  /** `places` is a power of two; no more than 65,535 keys may be counted at once. */
  constructor(places: number) {
    this.#counts = new Uint16Array(places)
    this.#mask = places - 1
  }

  /** Whether a key may have been added. */
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

/** Spreads the end of a key over 32 bits (FNV-1a). */
function placeOf(key: string): number {
  let place = 0x811c9dc5
  for (let i = Math.max(0, key.length - told); i < key.length; i++)
    place = Math.imul(place ^ key.charCodeAt(i), 0x01000193)
  return place ^ (place >>> 15)
}
