// What a parser under fuzzing is to the harness, and how one reading is compared with another.

import assert from 'node:assert/strict'

/** A parser, with the promises that it makes for any input. */
export interface Target {
  /** Valid and nearly valid inputs that the corpus begins with; text is latin1. */
  readonly seeds: readonly (string | Buffer)[]
  /** Words of the language that mutations insert, in latin1. */
  readonly tokens: readonly string[]
  /** Bytes. */
  readonly maxLength: number
  /** Beginnings of the paths whose blocks count, from the root. */
  readonly covers: readonly string[]
  /** Whether the file of the corpus escapes every byte: its inputs look like secrets. */
  readonly hidesCorpus?: true
  /** Makes lengths and checksums right again, without which most mutations would be refused at once. */
  repair?(input: Buffer): Buffer
  /** Makes an input of two by the structure that they have; null if they have none. */
  combine?(text: string, other: string, random: () => number): string | null
  /** Throws if a promise is broken. Must depend on nothing but the input. */
  attempt(input: Buffer): void
}

/** Asserts that a reading is the same for the whole input and for pieces of it, which the input itself chooses. */
export function sameInPieces(input: Buffer, read: (pieces: readonly Buffer[]) => unknown): void {
  const whole = read([input])
  for (const pieces of splitsOf(input)) assert.deepEqual(read(pieces), whole)
}

/** Byte by byte if it is short; else two splits at places that depend on the bytes. Pieces do not share memory. */
function splitsOf(input: Buffer): readonly (readonly Buffer[])[] {
  if (input.length < 2) return []
  if (input.length <= 64) return [Array.from(input, byte => Buffer.from([byte]))]
  const random = randomOf(hashOf(input))
  return [split(input, 1 + (random() % 3), random), split(input, 4 + (random() % 28), random)]
}

function split(input: Buffer, cuts: number, random: () => number): readonly Buffer[] {
  const places = Array.from({ length: cuts }, () => random() % (input.length + 1)).sort((a, b) => a - b)
  const ends = [...places, input.length]
  const pieces = ends.map((end, i) => Buffer.from(input.subarray(ends[i - 1] ?? 0, end)))
  return pieces.filter(({ length }) => length > 0)
}

/** FNV-1a. */
export function hashOf(bytes: Buffer): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

/** Returns a generator of 31-bit numbers that a seed determines (xorshift32). */
export function randomOf(seed: number): () => number {
  let state = seed | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 1
  }
}
