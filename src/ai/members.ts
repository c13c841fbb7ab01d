// Finds the members of a JSON object in its bytes, so that one can be replaced while all others stay as they are.

/** A top-level member: its name, and the positions of name and value. */
export interface Member {
  readonly name: string
  /** Of the name, including its quotes. */
  readonly nameStart: number
  /** Of the value, from its first byte to the one after its last. */
  readonly start: number
  readonly end: number
}

/** Lists the top-level members of an object, in order, duplicates included; accepts only what JSON.parse accepts. */
export function membersOf(json: Buffer): readonly Member[] {
  const members: Member[] = []
  let at = skipSpace(json, skipSpace(json, 0) + 1)
  while (json[at] === quote) {
    const nameEnd = stringEnd(json, at)
    const start = skipSpace(json, skipSpace(json, nameEnd) + 1)
    const end = valueEnd(json, start)
    members.push({ name: textOf(json, at, nameEnd), nameStart: at, start, end })
    at = skipSpace(json, skipSpace(json, end) + 1)
  }
  return members
}

/** Replaces the bytes from `start` to `end` with others. */
export function splice(bytes: Buffer, start: number, end: number, text: string): Buffer {
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(text), bytes.subarray(end)])
}

/** Bounds of acceptable JSON: how deeply objects and arrays may be nested, and how many values they may contain. */
interface Bounds {
  readonly depth: number
  readonly values: number
}

/** Anything beyond is not a request or a response of a model: it would exhaust the stack, or block the event loop. */
export const bounds: Bounds = { depth: 256, values: 500_000 }

/** Returns which bound is exceeded, by scanning the bytes, which costs far less than parsing them; null for none. */
export function brokenBound(json: Buffer, { depth: deepest, values: most }: Bounds): keyof Bounds | null {
  let depth = 0
  let values = 0
  for (let at = skipSpace(json, 0); at < json.length; ) {
    const byte = json[at]
    if (byte === brace || byte === bracket) {
      if (++depth > deepest) return 'depth'
    } else if (byte === braceEnd || byte === bracketEnd) depth--
    else if (byte === comma && ++values > most) return 'values'
    at = byte === quote ? stringEnd(json, at) : at + 1
  }
  return null
}

function valueEnd(json: Buffer, start: number): number {
  const first = json[start]
  if (first === quote) return stringEnd(json, start)
  if (first === brace || first === bracket) return nestedEnd(json, start)
  let at = start
  while (!isDelimiter(json[at])) at++
  return at
}

/** Counts depth instead of recursing, since the nesting is controlled by the caller. */
function nestedEnd(json: Buffer, start: number): number {
  let depth = 0
  let at = start
  do {
    const byte = json[at]
    if (byte === brace || byte === bracket) depth++
    else if (byte === braceEnd || byte === bracketEnd) depth--
    at = byte === quote ? stringEnd(json, at) : at + 1
  } while (depth > 0 && at < json.length)
  return at
}

/** Scans byte by byte first, then in leaps: most strings are short, and images are very long. */
function stringEnd(json: Buffer, start: number): number {
  let at = start + 1
  for (const near = at + nearBy; at < near; at++) {
    if (json[at] === quote) return at + 1
    if (json[at] === backslash) at++
  }
  for (at = json.indexOf(quote, at); at !== -1 && isEscaped(json, at, start); )
    at = json.indexOf(quote, at + 1)
  return at === -1 ? json.length : at + 1
}

function isEscaped(json: Buffer, at: number, start: number): boolean {
  let before = at - 1
  while (before > start && json[before] === backslash) before--
  return (at - before) % 2 === 0
}

function skipSpace(json: Buffer, from: number): number {
  let at = from
  while (isSpace(json[at])) at++
  return at
}

function textOf(json: Buffer, start: number, end: number): string {
  const text = json.toString('utf8', start + 1, end - 1)
  return text.includes('\\') ? JSON.parse(`"${text}"`) : text
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === comma || byte === braceEnd || byte === bracketEnd || isSpace(byte) || byte === undefined
}

const nearBy = 64

const quote = 0x22
const comma = 0x2c
const bracket = 0x5b
const backslash = 0x5c
const bracketEnd = 0x5d
const brace = 0x7b
const braceEnd = 0x7d
