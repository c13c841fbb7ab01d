// Writes header blocks (RFC 7541), from the field lines of a message.

import { staticFields } from './static-table.ts'

/** Indexes of names in the static table, by length and the last five bits of the first letter. */
const names: ([name: string, index: number][] | undefined)[] = []
/** Indexes of the statuses that the static table has. */
const statuses = new Map<number, number>()
for (let index = staticFields.length - 1; index > 0; index--) {
  const [name, value] = staticFields[index]!
  if (name === ':status') statuses.set(Number(value), index)
  const key = name.length * 32 + (name.charCodeAt(0) & 31)
  const others = (names[key] ?? []).filter(([other]) => other !== name)
  names[key] = [[name, index], ...others]
}

/** The fields that belong to a connection of HTTP/1 (RFC 9113 section 8.2.2). */
const dropped = -1
for (const name of ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']) {
  const key = name.length * 32 + (name.charCodeAt(0) & 31)
  names[key] = [[name, dropped], ...(names[key] ?? []).filter(([other]) => other !== name)]
}

/** Indexes of the names whose values no table may keep, on any hop behind us (RFC 7541 section 7.1.3). */
const secrets = new Set(
  ['authorization', 'cookie', 'proxy-authorization', 'set-cookie'].map(name =>
    staticFields.findIndex(([known]) => known === name),
  ),
)
const neverIndexed = 0x10

export class HpackEncoder {
  /** Whether the peer has to hear that no table is kept. */
  #mustResize = false

  /** Keeps to the table that the peer allows. */
  limitTable(): void {
    this.#mustResize = true
  }

  /** Begins a block at `at`; returns the offset behind what it begins with. Needs room for a byte. */
  begin(into: Buffer, at: number): number {
    if (!this.#mustResize) return at
    this.#mustResize = false
    into[at] = 0x20
    return at + 1
  }

  /** Writes the status at `at`; returns the offset behind it. Needs room for 5 bytes. */
  status(status: number, into: Buffer, at: number): number {
    const index = statuses.get(status)
    if (index !== undefined) {
      into[at] = 0x80 | index
      return at + 1
    }
    into[at] = 0x08
    into[at + 1] = 3
    into[at + 2] = 0x30 + Math.floor(status / 100)
    into[at + 3] = 0x30 + (Math.floor(status / 10) % 10)
    into[at + 4] = 0x30 + (status % 10)
    return at + 5
  }

  /**
   * Writes field lines (latin1, `Name: value\r\n` each) at `at`, their names in lower case, without those of a connection; returns the offset behind
   * them. Needs room for twice the length of the lines.
   */
  lines(lines: string, into: Buffer, at: number): number {
    let from = 0
    while (from < lines.length) {
      const colon = lines.indexOf(':', from)
      const end = lines.indexOf('\r', colon)
      const index = nameIndex(lines, from, colon)
      if (index !== dropped) {
        at = index === 0 ? newName(lines, from, colon, into, at) : knownName(index, into, at)
        at = value(lines, colon + 2, end, into, at)
      }
      from = end + 2
    }
    return at
  }
}

function knownName(index: number, into: Buffer, at: number): number {
  return integer(index, 0x0f, secrets.has(index) ? neverIndexed : 0, into, at)
}

function newName(lines: string, from: number, to: number, into: Buffer, at: number): number {
  into[at++] = 0
  at = integer(to - from, 0x7f, 0, into, at)
  for (let i = from; i < to; i++) into[at++] = lower(lines.charCodeAt(i))
  return at
}

function nameIndex(lines: string, from: number, to: number): number {
  const length = to - from
  const candidates = names[length * 32 + (lines.charCodeAt(from) & 31)]
  if (candidates === undefined) return 0
  next: for (let i = 0; i < candidates.length; i++) {
    const known = candidates[i]!
    for (let j = 0; j < length; j++)
      if (lower(lines.charCodeAt(from + j)) !== known[0].charCodeAt(j)) continue next
    return known[1]
  }
  return 0
}

function value(lines: string, from: number, to: number, into: Buffer, at: number): number {
  const length = to - from
  at = integer(length, 0x7f, 0, into, at)
  if (length > 64) return at + into.write(lines.slice(from, to), at, 'latin1')
  for (let i = from; i < to; i++) into[at++] = lines.charCodeAt(i)
  return at
}

function lower(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code | 0x20 : code
}

/** Writes an integer whose first bits stand under `mask`, beside `flags` (RFC 7541 section 5.1). */
function integer(value: number, mask: number, flags: number, into: Buffer, at: number): number {
  if (value < mask) {
    into[at] = flags | value
    return at + 1
  }
  into[at++] = flags | mask
  let rest = value - mask
  while (rest >= 0x80) {
    into[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  into[at] = rest
  return at + 1
}
