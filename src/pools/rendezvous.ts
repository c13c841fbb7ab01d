// The same member for the same client or header value, by weighted rendezvous hashing: each member draws a score for a key and the highest wins, so that
// a member which goes moves only the keys that it had, and one that comes back gets the same again.

import { equalsIgnoreCase } from '../http1/fields/fields.ts'
import { type Asking, type Balance, type Candidate, weightOf } from './candidate.ts'

export class Rendezvous implements Balance {
  readonly #header: string | null

  /** Takes the lower-case name of a header; the address of the client stands in where a request lacks it, and for null. */
  constructor(header: string | null) {
    this.#header = header
  }

  /** Returns itself: it keeps nothing. */
  copy(): this {
    return this
  }

  choose<C extends Candidate>(
    candidates: readonly C[],
    request: Asking,
    tried: readonly Candidate[],
  ): C | null {
    const key = hashOf(this.#keyOf(request))
    let best: C | null = null
    let highest = 0
    for (const candidate of candidates) {
      const score = weightOf(candidate, tried) * draw(key ^ candidate.seed)
      if (score <= highest) continue
      best = candidate
      highest = score
    }
    return best
  }

  #keyOf({ head: { fields }, clientAddress }: Asking): string {
    if (this.#header === null) return clientAddress
    for (let i = 0; i < fields.length; i += 2)
      if (equalsIgnoreCase(fields[i]!, this.#header)) return fields[i + 1]!
    return clientAddress
  }
}

/** Hashes a text to 32 bits (FNV-1a over its UTF-16 units): alike in every process, and no secret. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

/** Turns bits into a positive number so distributed that the highest of several, each times its weight, falls to each in proportion to its weight. */
function draw(bits: number): number {
  return -1 / Math.log((mixed(bits) + 0.5) / 2 ** 32)
}

/** Lets every bit change about half of all bits; no two inputs give the same. */
function mixed(bits: number): number {
  let mix = bits ^ (bits >>> 16)
  mix = Math.imul(mix, 0x85ebca6b)
  mix ^= mix >>> 13
  mix = Math.imul(mix, 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}
