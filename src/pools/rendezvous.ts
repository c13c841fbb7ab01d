// Chooses the same member for the same client or header value, by weighted rendezvous hashing: each member
// draws a score for a key and the highest wins. A member that leaves moves only its own keys, and one that
// returns gets the same ones again.

import { equalsIgnoreCase } from '../http1/fields/fields.ts'
import { type ChoiceRequest, type Balance, type Candidate, weightOf } from './candidate.ts'

export class Rendezvous implements Balance {
  readonly #header: string | null

  /** Takes a lower-case header name; null, or a request without it, uses the client's address. */
  constructor(header: string | null) {
    this.#header = header
  }

  /** Returns itself, since it has no state. */
  copy(): this {
    return this
  }

  choose<C extends Candidate>(
    candidates: readonly C[],
    request: ChoiceRequest,
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

  #keyOf({ head: { fields }, clientAddress }: ChoiceRequest): string {
    if (this.#header === null) return clientAddress
    for (let i = 0; i < fields.length; i += 2)
      if (equalsIgnoreCase(fields[i]!, this.#header)) return fields[i + 1]!
    return clientAddress
  }
}

/** Hashes a text to 32 bits (FNV-1a over its UTF-16 units): the same in every process, and not secret. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

/**
 * Maps bits to a positive number, distributed so that the highest of several, each multiplied by its weight,
 * goes to each in proportion to its weight.
 */
function draw(bits: number): number {
  return -1 / Math.log((mixed(bits) + 0.5) / 2 ** 32)
}

/** Mixes bits so that each one changes about half of the result; no two inputs give the same. */
function mixed(bits: number): number {
  let mix = bits ^ (bits >>> 16)
  mix = Math.imul(mix, 0x85ebca6b)
  mix ^= mix >>> 13
  mix = Math.imul(mix, 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}
