// Finds the members of a JSON object in its bytes, so that one can be replaced while all others stay.

/** The position of a value, from its first byte to the one after its last. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A top-level member: its name, and the positions of name and value. */
export interface Member extends Span {
  readonly name: string
  readonly nameStart: number
}

/** In order, duplicates included; accepts only what JSON.parse accepts. */
export function membersOf(json: Buffer): readonly Member[] {
  return new Scan(json, unbounded).members()
}

/** Lists the members of an object at a position, or behind space there; none for another value. */
export function membersAt(json: Buffer, { start: from, end }: Span): readonly Member[] {
  const start = skipSpace(json, from)
  if (json[start] !== brace) return []
  return membersOf(json.subarray(start, end)).map(member => ({
    name: member.name,
    nameStart: start + member.nameStart,
    start: start + member.start,
    end: start + member.end,
  }))
}

/** Lists the elements of an array at a position; none for another value. */
export function elementsAt(json: Buffer, { start, end }: Span): readonly Span[] {
  if (json[start] !== bracket) return []
  const elements = new Scan(json.subarray(start, end), unbounded).elements()
  return elements.map(element => ({ start: start + element.start, end: start + element.end }))
}

/** Returns the text of a string at a position; null for another value. */
export function textAt(json: Buffer, { start, end }: Span): string | null {
  return json[start] === quote ? textOf(json, start, end) : null
}

/**
 * One scan costs far less than parsing. Returns the exceeded bound, or that it is no object. Of bytes that
 * JSON.parse will refuse, the list is arbitrary.
 */
export function membersWithin(json: Buffer, bounds: Bounds): readonly Member[] | keyof Bounds | 'no_object' {
  if (json[skipSpace(json, 0)] !== brace) return 'no_object'
  const scan = new Scan(json, bounds)
  const members = scan.members()
  return scan.broken ?? members
}

/**
 * As JSON.parse finds it, behind a byte order mark as well; null for none. `quoted` is ASCII, with quotes.
 * Invalid JSON is read as far as possible.
 */
export function lastMember(json: Buffer, quoted: Buffer): Span | null {
  const start = skipSpace(json, json[0] === mark[0] && json[1] === mark[1] && json[2] === mark[2] ? 3 : 0)
  if (json[start] !== brace) return null
  return soleText(json, start, quoted) ?? new Scan(json, unbounded).last(start, quoted)
}

/** A first member that is unique and cannot be spelled with escapes: the rest needs no scan. */
function soleText(json: Buffer, brace: number, quoted: Buffer): Span | null {
  const name = skipSpace(json, brace + 1)
  const nameEnd = name + quoted.length
  if (!isAt(json, name, quoted) || json.includes(quoted, nameEnd)) return null
  const start = skipSpace(json, skipSpace(json, nameEnd) + 1)
  if (json[start] !== quote || json.includes(escapedCharacter)) return null
  return { start, end: stringEnd(json, start) }
}

function isAt(json: Buffer, start: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (json[start + i] !== text[i]) return false
  return true
}

const escapedCharacter = Buffer.from('\\u')

/** As for `membersWithin`; null for none. */
export function brokenBound(json: Buffer, bounds: Bounds): keyof Bounds | null {
  const scan = new Scan(json, bounds)
  scan.nestedEnd(skipSpace(json, 0), 0)
  return scan.broken
}

export function splice(bytes: Buffer, start: number, end: number, text: string): Buffer {
  const length = Buffer.byteLength(text)
  const spliced = Buffer.allocUnsafe(start + length + bytes.length - end)
  bytes.copy(spliced, 0, 0, start)
  spliced.write(text, start)
  bytes.copy(spliced, start + length, end)
  return spliced
}

/** Other text for the bytes at a position. */
export interface Edit extends Span {
  readonly text: string
}

/** Makes all edits at once; one that begins within another is not made. */
export function edit(bytes: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return bytes
  const pieces: Buffer[] = []
  let at = 0
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    if (start < at) continue
    pieces.push(bytes.subarray(at, start), Buffer.from(text))
    at = end
  }
  return Buffer.concat([...pieces, bytes.subarray(at)])
}

interface Bounds {
  readonly depth: number
  readonly values: number
}

/** More would exhaust the stack, or block the event loop. */
export const bounds: Bounds = { depth: 256, values: 500_000 }
const unbounded: Bounds = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }

class Scan {
  broken: keyof Bounds | null = null
  readonly #json: Buffer
  readonly #bounds: Bounds
  #values = 0

  constructor(json: Buffer, bounds: Bounds) {
    this.#json = json
    this.#bounds = bounds
  }

  members(): readonly Member[] {
    const json = this.#json
    const members: Member[] = []
    let at = skipSpace(json, skipSpace(json, 0) + 1)
    while (json[at] === quote) {
      const nameEnd = stringEnd(json, at)
      const start = skipSpace(json, skipSpace(json, nameEnd) + 1)
      const end = this.#valueEnd(start)
      if (++this.#values > this.#bounds.values) this.broken = 'values'
      if (this.broken !== null) break
      members.push({ name: textOf(json, at, nameEnd), nameStart: at, start, end })
      at = skipSpace(json, skipSpace(json, end) + 1)
    }
    return members
  }

  elements(): readonly Span[] {
    const json = this.#json
    const elements: Span[] = []
    let at = skipSpace(json, skipSpace(json, 0) + 1)
    while (at < json.length && json[at] !== bracketEnd) {
      const end = this.#valueEnd(at)
      elements.push({ start: at, end })
      at = skipSpace(json, skipSpace(json, end) + 1)
    }
    return elements
  }

  last(brace: number, quoted: Buffer): Span | null {
    const json = this.#json
    let span: Span | null = null
    let at = skipSpace(json, brace + 1)
    while (json[at] === quote) {
      const nameEnd = stringEnd(json, at)
      const start = skipSpace(json, skipSpace(json, nameEnd) + 1)
      const end = this.#valueEnd(start)
      if (isNamed(json, at, nameEnd, quoted)) span = { start, end }
      at = skipSpace(json, skipSpace(json, end) + 1)
    }
    return span
  }

  /** Counts depth instead of recursing, since the nesting is controlled by the caller. */
  nestedEnd(start: number, above: number): number {
    const json = this.#json
    const { depth: deepest, values: maxValues } = this.#bounds
    let values = this.#values
    let depth = above
    let at = start
    do {
      const byte = json[at]
      if (byte === brace || byte === bracket) {
        if (++depth > deepest) this.broken = 'depth'
      } else if (byte === braceEnd || byte === bracketEnd) depth--
      else if (byte === comma && ++values > maxValues) this.broken = 'values'
      at = byte === quote ? stringEnd(json, at) : at + 1
    } while (depth > above && at < json.length && this.broken === null)
    this.#values = values
    return at
  }

  #valueEnd(start: number): number {
    const json = this.#json
    const first = json[start]
    if (first === quote) return stringEnd(json, start)
    if (first === brace || first === bracket) return this.nestedEnd(start, 1)
    let at = start
    while (!isDelimiter(json[at])) at++
    return at
  }
}

function isNamed(json: Buffer, start: number, end: number, quoted: Buffer): boolean {
  let i = 0
  while (i < quoted.length && json[start + i] === quoted[i]) i++
  if (i === quoted.length) return end - start === i
  return (
    json[start + i] === backslash &&
    textOf(json, start, end) === quoted.toString('latin1', 1, quoted.length - 1)
  )
}

/** Scans byte by byte first, then in leaps: most strings are short, and images are very long. */
export function stringEnd(json: Buffer, start: number): number {
  let at = start + 1
  while (true) {
    for (const near = at + nearBy; at < near; at++) {
      if (json[at] === quote) return at + 1
      if (json[at] === backslash) at++
    }
    at = json.indexOf(quote, at)
    if (at === -1) return json.length
    if (!isEscaped(json, at, start)) return at + 1
    // Texts such as code have many of them.
    at++
  }
}

function isEscaped(json: Buffer, at: number, start: number): boolean {
  let before = at - 1
  while (before > start && json[before] === backslash) before--
  return (at - before) % 2 === 0
}

export function skipSpace(json: Buffer, from: number): number {
  let at = from
  while (isSpace(json[at])) at++
  return at
}

function textOf(json: Buffer, start: number, end: number): string {
  const text = json.toString('utf8', start + 1, end - 1)
  return text.includes('\\') ? unescaped(text) : text
}

/** Faulty escapes stay: the JSON is invalid. */
function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return text
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === comma || byte === braceEnd || byte === bracketEnd || isSpace(byte) || byte === undefined
}

const nearBy = 64

const mark = [0xef, 0xbb, 0xbf]

const quote = 0x22
const comma = 0x2c
const bracket = 0x5b
const backslash = 0x5c
const bracketEnd = 0x5d
const brace = 0x7b
const braceEnd = 0x7d
