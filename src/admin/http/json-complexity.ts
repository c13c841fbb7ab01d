// Estimates the cost of JSON: a mebibyte of tiny values takes as long to parse as hundreds of requests.

import { nextTurn } from '../../base/turns/turns.ts'

/** Bytes per turn. */
const step = 256 * 1024

/**
 * Counts commas, colons and opening brackets outside of strings. For invalid JSON, either result is possible.
 */
export async function hasMoreParts(json: Uint8Array, maxParts: number): Promise<boolean> {
  const count = new PartCount()
  for (let from = 0; from < json.length; from += step) {
    if (from > 0) await nextTurn()
    count.add(json.subarray(from, from + step))
    if (count.parts > maxParts) return true
  }
  return false
}

class PartCount {
  parts = 0
  #inText = false
  #isEscaped = false

  add(bytes: Uint8Array): void {
    let [parts, inText, isEscaped] = [this.parts, this.#inText, this.#isEscaped]
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (isEscaped) isEscaped = false
      else if (byte === 0x22) inText = !inText
      else if (inText) isEscaped = byte === 0x5c
      else if (byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) parts++
    }
    this.parts = parts
    this.#inText = inText
    this.#isEscaped = isEscaped
  }
}
