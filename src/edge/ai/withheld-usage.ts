// The stream of a chat whose usage the gateway asked for and its caller did not: the chunk that holds nothing else is left out.
import type { Rewriter } from './rewriting.ts'

/** Bytes of an event that is looked at; that of usage is far smaller. */
const LARGEST_EVENT = 64 * 1024

export class WithheldUsage implements Rewriter {
  readonly holdsHead = false
  /** The beginning of an event whose end has not come yet. */
  #begun: Buffer | null = null

  push(bytes: Buffer): Buffer | null {
    const all = this.#begun === null ? bytes : Buffer.concat([this.#begun, bytes])
    const end = endOfEvents(all)
    const isTooLarge = all.length - end > LARGEST_EVENT
    this.#begun = isTooLarge || end === all.length ? null : all.subarray(end)
    const whole = isTooLarge ? all : all.subarray(0, end)
    return whole.includes(COUNTED) ? withoutUsage(whole) : orNull(whole)
  }

  end(): Buffer | null {
    return this.#begun
  }
}

/** Stands in every event of usage, and in no text, where quotes are escaped. */
const COUNTED = '"prompt_tokens"'

/** Returns the offset behind the last event that is whole (WHATWG HTML, section 9.2.5). */
function endOfEvents(bytes: Buffer): number {
  let end = 0
  for (const blank of BLANKS) {
    const at = bytes.lastIndexOf(blank)
    if (at !== -1) end = Math.max(end, at + blank.length)
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
  for (const blank of BLANKS) {
    const at = bytes.indexOf(blank, from)
    if (at !== -1) end = Math.min(end, at + blank.length)
  }
  return end
}

const BLANKS = ['\n\n', '\n\r\n', '\r\r'].map(blank => Buffer.from(blank))

function isUsageAlone(event: Buffer): boolean {
  if (!event.includes(COUNTED)) return false
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
