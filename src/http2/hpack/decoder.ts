// Reads header blocks (RFC 7541), with facts about fields in the table: repeated ones cost a look-up.

import { isFieldByte, isTokenByte, htab, sp } from '../../http1/fields/characters.ts'
import { type FieldId, field, fieldId } from '../../http1/fields/fields.ts'
import { decodeHuffman } from './huffman.ts'
import { staticFields } from './static-table.ts'

/** In the order of their bits (RFC 9113 section 8.3.1, RFC 8441 section 4). */
export const pseudo = {
  none: 0,
  method: 1,
  scheme: 2,
  path: 4,
  authority: 8,
  protocol: 16,
  unknown: 32,
} as const

type Pseudo = (typeof pseudo)[keyof typeof pseudo]

export interface HeaderField {
  /** As received; must be in lower case. */
  readonly name: string
  readonly value: string
  readonly id: FieldId
  readonly pseudo: Pseudo
  /** RFC 9113 section 8.2.1; pseudo-header fields are checked by their meaning. */
  readonly isSound: boolean
  /** Bytes, plus 32 (RFC 7541 section 4.1). */
  readonly size: number
}

export interface FieldSink {
  take(field: HeaderField): void
}

const tableSize = 4096

const overhead = 32
const neverIndexed = 0x10
const maxFields = tableSize / overhead
const statics = staticFields.map(([name, value]) => headerField(name, value))
const firstDynamic = statics.length
const nothing = statics[0]!

export class HpackDecoder {
  readonly #fields: HeaderField[] = []
  #next = 0
  #count = 0
  #size = 0
  #limit = tableSize
  #at = 0
  #isFaulty = false
  /** Whether the last block had a field that no hop may index (RFC 7541 section 6.2.3). */
  hasNeverIndexed = false

  /**
   * Hands each field to the sink until their sizes exceed `max`. Returns the total size, or -1 if the block
   * is malformed, after which the connection cannot go on; nor can it beyond `bearable`: the rest is not
   * read.
   */
  decode(
    bytes: Buffer,
    at: number,
    end: number,
    max: number,
    sink: FieldSink,
    bearable = Number.POSITIVE_INFINITY,
  ): number {
    let size = 0
    let mayResize = true
    this.#at = at
    this.#isFaulty = this.hasNeverIndexed = false
    while (this.#at < end) {
      const first = bytes[this.#at]!
      if (first >= 0x20 && first < 0x40) {
        if (!mayResize || !this.#resize(this.#integer(bytes, 0x1f, end))) return -1
        continue
      }
      mayResize = false
      let field: HeaderField | null
      if (first >= 0x80) field = this.#fieldAt(this.#integer(bytes, 0x7f, end))
      else field = this.#literal(bytes, first, end)
      if (field === null || this.#isFaulty) return -1
      size += field.size
      if (size <= max) sink.take(field)
      else if (size > bearable) return size
    }
    return size
  }

  #literal(bytes: Buffer, first: number, end: number): HeaderField | null {
    const isIndexed = first >= 0x40
    if (!isIndexed && first >= neverIndexed) this.hasNeverIndexed = true
    const index = this.#integer(bytes, isIndexed ? 0x3f : 0x0f, end)
    let field: HeaderField
    if (index === 0) {
      const name = this.#string(bytes, end)
      field = headerField(name, this.#string(bytes, end))
    } else {
      const entry = this.#fieldAt(index)
      if (entry === null) return null
      field = withValue(entry, this.#string(bytes, end))
    }
    if (isIndexed) this.#add(field)
    return field
  }

  #fieldAt(index: number): HeaderField | null {
    if (index < firstDynamic) return index === 0 ? null : statics[index]!
    const back = index - firstDynamic
    return back < this.#count ? this.#fields[(this.#next - 1 - back) & (maxFields - 1)]! : null
  }

  #add(added: HeaderField): void {
    this.#evict(this.#limit - added.size)
    if (added.size > this.#limit) return
    this.#fields[this.#next] = added
    this.#next = (this.#next + 1) & (maxFields - 1)
    this.#count++
    this.#size += added.size
  }

  #evict(size: number): void {
    while (this.#size > size && this.#count > 0) {
      const oldest = (this.#next - this.#count--) & (maxFields - 1)
      this.#size -= this.#fields[oldest]!.size
      this.#fields[oldest] = nothing
    }
  }

  #resize(size: number): boolean {
    if (this.#isFaulty || size > tableSize) return false
    this.#limit = size
    this.#evict(size)
    return true
  }

  /** The first bits are under `mask` (RFC 7541 section 5.1). */
  #integer(bytes: Buffer, mask: number, end: number): number {
    let value = bytes[this.#at++]! & mask
    if (value < mask) return value
    // With four more bytes, it exceeds any block.
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= end) break
      const byte = bytes[this.#at++]!
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    this.#isFaulty = true
    return 0
  }

  #string(bytes: Buffer, end: number): string {
    const isHuffman = bytes[this.#at]! >= 0x80
    const length = this.#integer(bytes, 0x7f, end)
    const from = this.#at
    const to = from + length
    if (to > end) return this.#fault()
    this.#at = to
    if (!isHuffman) return bytes.toString('latin1', from, to)
    return decodeHuffman(bytes, from, to) ?? this.#fault()
  }

  #fault(): string {
    this.#isFaulty = true
    return ''
  }
}

function headerField(name: string, value: string): HeaderField {
  const isPseudo = name.charCodeAt(0) === 0x3a
  return {
    name,
    value,
    id: isPseudo ? field.other : fieldId(name),
    pseudo: isPseudo ? pseudoOf(name) : pseudo.none,
    isSound: isSoundName(name) && isFieldValue(value),
    size: name.length + value.length + overhead,
  }
}

function withValue(entry: HeaderField, value: string): HeaderField {
  const { name, id, pseudo } = entry
  const isSound = (entry.isSound || isSoundName(name)) && isFieldValue(value)
  return { name, value, id, pseudo, isSound, size: name.length + value.length + overhead }
}

function pseudoOf(name: string): Pseudo {
  switch (name) {
    case ':method':
      return pseudo.method
    case ':scheme':
      return pseudo.scheme
    case ':path':
      return pseudo.path
    case ':authority':
      return pseudo.authority
    case ':protocol':
      return pseudo.protocol
    default:
      return pseudo.unknown
  }
}

function isSoundName(name: string): boolean {
  return name.charCodeAt(0) === 0x3a || isLowerToken(name)
}

function isLowerToken(name: string): boolean {
  if (name.length === 0) return false
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (isTokenByte[code] !== 1 || (code >= 0x41 && code <= 0x5a)) return false
  }
  return true
}

/** RFC 9113 section 8.2.1: valid bytes, and no blanks around them. */
function isFieldValue(value: string): boolean {
  const { length } = value
  for (let i = 0; i < length; i++) if (isFieldByte[value.charCodeAt(i)] !== 1) return false
  return !isBlank(value.charCodeAt(0)) && !isBlank(value.charCodeAt(length - 1))
}

function isBlank(code: number): boolean {
  return code === sp || code === htab
}
