// Writes header blocks (RFC 7541) without a dynamic table: finding a field costs more than writing it.

import { staticFields } from './static-table.ts'

/** How a field with a special name begins: by its index in the static table, by the name, or not at all. */
interface KnownName {
  readonly bytes: Uint8Array
  readonly isDropped: boolean
  readonly beginning: Uint8Array
}

/** Fields of an HTTP/1 connection (RFC 9113 section 8.2.2). */
const dropped = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']

/** Not for tables (RFC 7541 section 7.1.3): names in the static table, then those of providers' keys. */
const secrets = ['authorization', 'cookie', 'proxy-authorization', 'set-cookie']
const unlistedSecrets = ['x-api-key', 'x-goog-api-key', 'api-key']
const neverIndexed = 0x10

const names: (KnownName[] | undefined)[] = []
const statuses = new Map<number, number>()
for (const [index, [name, value]] of staticFields.entries()) {
  if (name === ':status') statuses.set(Number(value), index)
  // Pseudo-header fields come first.
  if (index < 15 || dropped.includes(name)) continue
  const flags = secrets.includes(name) ? neverIndexed : 0
  know(name, [flags | 15, index - 15])
}
for (const name of unlistedSecrets) know(name, [neverIndexed, name.length, ...Buffer.from(name)])
for (const name of dropped) know(name, [])

function know(name: string, beginning: readonly number[]): void {
  const bytes = Buffer.from(name)
  const entry = { bytes, isDropped: beginning.length === 0, beginning: Buffer.from(beginning) }
  ;(names[keyOf(name.length, name.charCodeAt(0))] ??= []).push(entry)
}

const cr = 0x0d
const colon = 0x3a
/** Reserved for the length of a string; a longer one takes two or three bytes. */
const shortString = 0x7f

export class HpackEncoder {
  #mustResize = false

  /** RFC 7541 section 4.2. */
  limitTable(): void {
    this.#mustResize = true
  }

  /** Returns the offset after it, as all these methods do. Needs room for a byte. */
  begin(into: Buffer, at: number): number {
    if (!this.#mustResize) return at
    this.#mustResize = false
    into[at] = 0x20
    return at + 1
  }

  /** Needs room for 5 bytes. */
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
   * Lower-cases names, leaves out those of a connection. If they are `secret`, no later hop may add any of
   * them to a table (RFC 7541 section 6.2.3). Needs room for twice the length of the lines.
   */
  lines(lines: string, into: Buffer, at: number, secret: boolean): number {
    let from = 0
    while (from < lines.length) {
      let to = from
      while (lines.charCodeAt(to) !== colon) to++
      const entry = knownName(lines, from, to)
      const nameAt = at
      at = entry === null ? newName(lines, from, to, into, at) : begun(entry, into, at)
      if (secret) into[nameAt]! |= neverIndexed
      const valueAt = at++
      let code: number
      for (from = to + 2; (code = lines.charCodeAt(from)) !== cr; from++) into[at++] = code
      at = entry?.isDropped ? nameAt : sized(into, valueAt, at)
      from += 2
    }
    return at
  }
}

function begun({ beginning }: KnownName, into: Buffer, at: number): number {
  for (let i = 0; i < beginning.length; i++) into[at++] = beginning[i]!
  return at
}

function newName(lines: string, from: number, to: number, into: Buffer, at: number): number {
  into[at++] = 0
  const lengthAt = at++
  for (let i = from; i < to; i++) into[at++] = lower(lines.charCodeAt(i))
  return sized(into, lengthAt, at)
}

function knownName(lines: string, from: number, to: number): KnownName | null {
  const length = to - from
  const candidates = names[keyOf(length, lines.charCodeAt(from))]
  if (candidates === undefined) return null
  next: for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[i]!
    const { bytes } = candidate
    for (let j = 0; j < length; j++) if (lower(lines.charCodeAt(from + j)) !== bytes[j]) continue next
    return candidate
  }
  return null
}

/** Writes the length of the string that ends at `end` in front of it, at `at` (RFC 7541 section 5.1). */
function sized(into: Buffer, at: number, end: number): number {
  const length = end - at - 1
  if (length < shortString) {
    into[at] = length
    return end
  }
  let more = 1
  for (let rest = length - shortString; rest >= 0x80; rest >>>= 7) more++
  into.copyWithin(at + 1 + more, at + 1, end)
  into[at++] = shortString
  let rest = length - shortString
  for (; rest >= 0x80; rest >>>= 7) into[at++] = (rest & 0x7f) | 0x80
  into[at] = rest
  return end + more
}

function keyOf(length: number, first: number): number {
  return length * 32 + (first & 31)
}

function lower(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code | 0x20 : code
}
