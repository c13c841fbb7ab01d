// Removes the usage chunk from a chat stream if only the gateway asked for it.

import { GrowingBytes } from '../wire/growing-bytes.ts'
import type { Rewriter } from './rewriter.ts'

/** Bytes of an event that are searched; usage events are far smaller. */
const largestEvent = 64 * 1024

export class WithheldUsage implements Rewriter {
  readonly holdsHead = false
  /** The beginning of an event that is still incomplete. */
  #begun: GrowingBytes | null = null

  push(bytes: Buffer): Buffer | null {
    const begun = this.#begun
    if (begun === null) return this.#take(bytes, 0)
    // However small the pieces are, each byte is searched once.
    const from = Math.max(0, begun.size - longestBlank + 1)
    begun.append(bytes)
    return this.#take(begun.bytes, from)
  }

  end(): Buffer | null {
    return this.#begun === null ? null : orNull(this.#begun.bytes)
  }

  /** Takes bytes in which no event ends before `from`. */
  #take(all: Buffer, from: number): Buffer | null {
    const end = endOfEvents(all, from)
    const left = all.length - end
    if (end === 0 && left <= largestEvent) {
      if (this.#begun === null) this.#begin(all)
      return null
    }
    this.#begun = null
    const whole = left > largestEvent ? all : all.subarray(0, end)
    if (whole.length < all.length) this.#begin(all.subarray(end))
    return whole.includes(counted) ? withoutUsage(whole) : whole
  }

  #begin(bytes: Buffer): void {
    this.#begun = new GrowingBytes()
    this.#begun.append(bytes)
  }
}

/** Occurs in every usage event, and never in text, where quotes are escaped. */
const counted = '"prompt_tokens"'

/**
 * Returns the offset after the last complete event (WHATWG HTML, section 9.2.5), or 0. No event ends before
 * `from`.
 */
function endOfEvents(bytes: Buffer, from: number): number {
  const fresh = bytes.subarray(from)
  let end = 0
  for (const blank of blanks) {
    const at = fresh.lastIndexOf(blank)
    if (at !== -1) end = Math.max(end, from + at + blank.length)
  }
  return end
}

function withoutUsage(events: Buffer): Buffer | null {
  const kept: Buffer[] = []
  for (let at = 0; at < events.length; ) {
    const end = endOfFirst(events, at)
    const event = events.subarray(at, end)
    if (!isUsageAlone(event)) kept.push(event)
    at = end
  }
  return orNull(Buffer.concat(kept))
}

function endOfFirst(bytes: Buffer, from: number): number {
  let end = bytes.length
  for (const blank of blanks) {
    const at = bytes.indexOf(blank, from)
    if (at !== -1) end = Math.min(end, at + blank.length)
  }
  return end
}

const blanks = ['\n\n', '\n\r\n', '\r\r'].map(blank => Buffer.from(blank))
const longestBlank = 3

function isUsageAlone(event: Buffer): boolean {
  if (!event.includes(counted)) return false
  const data = event
    .toString()
    .split(/\r\n|\n|\r/)
    .flatMap(line => (line.startsWith('data:') ? [line.slice(5)] : []))
  try {
    const { choices, usage } = JSON.parse(data.join('\n'))
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null
  } catch {
    return false
  }
}

function orNull(bytes: Buffer): Buffer | null {
  return bytes.length === 0 ? null : bytes
}
