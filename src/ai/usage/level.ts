// The nesting of a member: tool arguments and model output may contain members of any name.

/** Bytes behind a member; a member before more is searched for from the other end. */
const farthest = 8 * 1024

/**
 * How many objects a member (which ends at `end`) is in, judged by the brackets that close behind it, so that
 * the beginning of a long response need not be known: 1, also in the list that is the whole response, or 2 in
 * an event. 0 for anything else. The bytes must end where a response does, or a whole event.
 */
export function levelOf(bytes: Buffer, at: number, end: number, isEventStream: boolean): 0 | 1 | 2 {
  if (!isName(bytes, at)) return 0
  let depth = 0
  let level = 0
  let isList = false
  const limit = Math.min(bytes.length, end + farthest)
  let i = end
  for (; i < limit; i++) {
    const byte = bytes[i]!
    if (byte === quote) {
      i = stringEnd(bytes, i, limit)
    } else if (byte === brace || byte === bracket) {
      depth++
    } else if (byte === braceEnd || byte === bracketEnd) {
      if (--depth >= 0) continue
      depth = 0
      // A list that may be here has nothing around it.
      if (isList || ++level > 2) return 0
      if (byte === bracketEnd) {
        if (level !== 2 || isEventStream) return 0
        isList = true
      }
    } else if (isEventStream && isBlank(bytes, i)) {
      break
    }
  }
  if (depth > 0 || (i >= limit && limit < bytes.length)) return 0
  if (isEventStream) return level as 0 | 1 | 2
  return level === 1 || isList ? 1 : 0
}

/** Within a string the quote would be escaped, and one that ends a string follows none of these. */
function isName(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1]
  return before === undefined || before === brace || before === comma || before <= space
}

function stringEnd(bytes: Buffer, start: number, limit: number): number {
  let i = start + 1
  for (; i < limit && bytes[i] !== quote; i++) if (bytes[i] === backslash) i++
  return i
}

function isBlank(bytes: Buffer, at: number): boolean {
  const byte = bytes[at]
  if (byte !== lf && byte !== cr) return false
  const next = byte === cr && bytes[at + 1] === lf ? bytes[at + 2] : bytes[at + 1]
  return next === lf || next === cr
}

/** The last event of the stream may be truncated. */
export function endOfEvents(bytes: Buffer): number {
  for (let i = bytes.length - 2; i >= 0; i--) if (isBlank(bytes, i)) return i
  return 0
}

const quote = 0x22
const backslash = 0x5c
const brace = 0x7b
const braceEnd = 0x7d
const bracket = 0x5b
const bracketEnd = 0x5d
const comma = 0x2c
const space = 0x20
const lf = 0x0a
const cr = 0x0d
