// Walks the structure of JSON in its bytes, without building what they stand for.

import { skipSpace, stringEnd } from './members.ts'

/**
 * Exact in where values begin and end (RFC 8259), and loose in what is inside of texts and numbers, which
 * cannot move an end: a reader that takes more than JSON still reads the same members. `Place` is what a
 * reader notes of where it is; `depth` counts the objects and lists around. Methods that read return the end.
 */
export abstract class JsonStructure<Place> {
  readonly json: Buffer
  #isBroken = false

  constructor(json: Buffer) {
    this.json = json
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Reads a member, whose name is between quotes at `nameStart` and before `nameEnd`. */
  protected abstract member(
    nameStart: number,
    nameEnd: number,
    start: number,
    place: Place,
    depth: number,
  ): number

  /** Takes note of a text. */
  protected text(_start: number, _end: number, _place: Place): void {}

  /** Stops: all of it counts as read. */
  protected break(): number {
    this.#isBroken = true
    return this.json.length
  }

  protected object(start: number, place: Place, depth: number): number {
    const { json } = this
    let at = skipSpace(json, start + 1)
    if (json[at] === braceEnd) return at + 1
    while (json[at] === quote) {
      const nameEnd = stringEnd(json, at)
      let valueStart = json[nameEnd] === colon ? nameEnd : skipSpace(json, nameEnd)
      if (json[valueStart] !== colon) return this.break()
      if (json[++valueStart]! <= space) valueStart = skipSpace(json, valueStart)
      const end = this.member(at, nameEnd, valueStart, place, depth)
      at = json[end]! <= space ? skipSpace(json, end) : end
      if (json[at] === comma) {
        if (json[++at]! <= space) at = skipSpace(json, at)
      } else if (json[at] === braceEnd) return at + 1
      else break
    }
    return this.break()
  }

  protected value(start: number, place: Place, depth: number): number {
    const { json } = this
    const first = json[start]
    if (first === quote) {
      const end = stringEnd(json, start)
      this.text(start, end, place)
      return end
    }
    if (first === brace) return depth > deepest ? this.break() : this.object(start, place, depth + 1)
    if (first === bracket) return depth > deepest ? this.break() : this.list(start, place, depth)
    return this.#scalar(start)
  }

  protected list(start: number, place: Place, depth: number): number {
    const { json } = this
    let at = skipSpace(json, start + 1)
    if (json[at] === bracketEnd) return at + 1
    while (at < json.length) {
      at = skipSpace(json, this.element(at, place, depth + 1))
      if (json[at] === bracketEnd) return at + 1
      if (json[at] !== comma) break
      at = skipSpace(json, at + 1)
    }
    return this.break()
  }

  protected element(start: number, place: Place, depth: number): number {
    return this.value(start, place, depth)
  }

  /** Of a number, true, false or null. */
  #scalar(start: number): number {
    const { json } = this
    let at = start
    while (isOfScalar(json[at])) at++
    return at === start ? this.break() : at
  }
}

/** Digits, letters, and what numbers have besides. */
function isOfScalar(byte: number | undefined): boolean {
  if (byte === undefined) return false
  const isDigit = byte >= 0x30 && byte <= 0x39
  return isDigit || (byte >= 0x61 && byte <= 0x7a) || byte === 0x45 || byte === 0x2b || isSign(byte)
}

function isSign(byte: number): boolean {
  return byte === 0x2d || byte === 0x2e
}

/** What requests may nest. */
const deepest = 256

const space = 0x20
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const bracket = 0x5b
const bracketEnd = 0x5d
const brace = 0x7b
const braceEnd = 0x7d
