// Removes the usage chunk from a chat stream if only the gateway asked for it.

import { GrowingBytes } from '../wire/growing-bytes.ts'
import type { Rewriter } from './rewriter.ts'

/** Usage events are far smaller. */
const maxEvent = 64 * 1024

export class WithheldUsage implements Rewriter {
  readonly holdsHead = false
  #partial: GrowingBytes | null = null

  push(bytes: Buffer): Buffer | null {
    const partial = this.#partial
    if (partial === null) return this.#take(bytes, 0)
    // However small the pieces are, each byte is searched once.
    const from = Math.max(0, partial.size - maxSeparator + 1)
    partial.append(bytes)
    return this.#take(partial.bytes, from)
  }

  end(): Buffer | null {
    return this.#partial === null ? null : orNull(this.#partial.bytes)
  }

  /** No event ends before `from`. */
  #take(all: Buffer, from: number): Buffer | null {
    const end = endOfEvents(all, from)
    const left = all.length - end
    if (end === 0 && left <= maxEvent) {
      if (this.#partial === null) this.#hold(all)
      return null
    }
    this.#partial = null
    const complete = left > maxEvent ? all : all.subarray(0, end)
    if (complete.length < all.length) this.#hold(all.subarray(end))
    return complete.includes(usageMark) ? withoutUsage(complete) : complete
  }

  #hold(bytes: Buffer): void {
    this.#partial = new GrowingBytes()
    this.#partial.append(bytes)
  }
}

/** Occurs in every usage event, and never in text, where quotes are escaped. */
const usageMark = '"prompt_tokens"'

/** 0 for none (WHATWG HTML, section 9.2.5). No event ends before `from`. */
function endOfEvents(bytes: Buffer, from: number): number {
  const unsearched = bytes.subarray(from)
  let end = 0
  for (const separator of separators) {
    const at = unsearched.lastIndexOf(separator)
    if (at !== -1) end = Math.max(end, from + at + separator.length)
  }
  return end
}

function withoutUsage(events: Buffer): Buffer | null {
  const remaining: Buffer[] = []
  for (let at = 0; at < events.length; ) {
    const end = endOfFirst(events, at)
    const event = events.subarray(at, end)
    if (!isUsageAlone(event)) remaining.push(event)
    at = end
  }
  return orNull(Buffer.concat(remaining))
}

function endOfFirst(bytes: Buffer, from: number): number {
  let end = bytes.length
  for (const separator of separators) {
    const at = bytes.indexOf(separator, from)
    if (at !== -1) end = Math.min(end, at + separator.length)
  }
  return end
}

const separators = ['\n\n', '\n\r\n', '\r\r'].map(separator => Buffer.from(separator))
const maxSeparator = 3

function isUsageAlone(event: Buffer): boolean {
  if (!event.includes(usageMark)) return false
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
