// Texts as patterns read them: without the escapes of JSON, at whatever depth, and with the plain characters
// for those that only look different.

interface FoldedText {
  readonly text: string
  /** Where each character was; with one more for the end. Null if nothing has moved. */
  readonly places: Int32Array | null
  /** Where an escape or a character begins that is not yet whole. */
  readonly end: number
}

const special = /[\\\u0080-\uffff]/

/** Folds a text of which, unless `isFinal`, more may come. */
export function fold(text: string, isFinal: boolean): FoldedText {
  if (!special.test(text)) return { text, places: null, end: text.length }
  return new Folding(text, isFinal).run()
}

class Folding {
  readonly #text: string
  readonly #isFinal: boolean
  readonly #places: Int32Array
  readonly #codes: Uint16Array
  #size = 0
  /** The first half of a pair that an escape has, and where it was; 0 for none. */
  #high = 0
  #highAt = 0

  constructor(text: string, isFinal: boolean) {
    this.#text = text
    this.#isFinal = isFinal
    this.#places = new Int32Array(text.length + 1)
    this.#codes = new Uint16Array(text.length)
  }

  run(): FoldedText {
    const text = this.#text
    let at = 0
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (code !== backslash) {
        this.#take(code, at++)
        continue
      }
      const next = this.#escape(at)
      if (next === -1) break
      at = next
    }
    if (this.#high !== 0) {
      if (!this.#isFinal) at = this.#highAt
      else this.#flushHigh()
    }
    this.#places[this.#size] = at
    return { text: textOf(this.#codes.subarray(0, this.#size)), places: this.#places, end: at }
  }

  /** Returns where the text goes on behind an escape; -1 if it is not yet whole. */
  #escape(from: number): number {
    const text = this.#text
    let at = from
    while (text.charCodeAt(at) === backslash) at++
    if (at === text.length && !this.#isFinal) return -1
    const letter = text[at] ?? ''
    if (letter === 'u') {
      const digits = text.slice(at + 1, at + 5)
      if (fourDigits.test(digits)) {
        this.#take(Number.parseInt(digits, 16), from)
        return at + 5
      }
      if (digits.length < 4 && !this.#isFinal && fewDigits.test(digits)) return -1
    } else if (letter !== '' && spaces.includes(letter)) {
      this.#take(space, from)
      return at + 1
    } else if (letter === '/') {
      this.#take(slash, from)
      return at + 1
    }
    for (let i = from; i < at; i++) this.#take(backslash, i)
    return at
  }

  #take(code: number, at: number): void {
    if (this.#high !== 0) {
      if (isLow(code)) {
        const pair = ((this.#high - 0xd800) << 10) + (code - 0xdc00) + 0x10000
        this.#high = 0
        return this.#put(foldedPair(pair), this.#highAt)
      }
      this.#flushHigh()
    }
    if (code >= 0xd800 && code <= 0xdbff) {
      this.#high = code
      this.#highAt = at
    } else this.#put(code < 0x80 ? code : folded(code), at)
  }

  #flushHigh(): void {
    this.#high = 0
    this.#put(unknown, this.#highAt)
  }

  #put(code: number, at: number): void {
    if (code === dropped) return
    this.#places[this.#size] = at
    this.#codes[this.#size++] = code
  }
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}

function textOf(codes: Uint16Array): string {
  return Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength).toString('utf16le')
}

/** Looked up once: most texts use few characters. 0 is not known yet. */
const known = new Uint16Array(0x10000)

function folded(code: number): number {
  return known[code] || (known[code] = plainOf(code))
}

function foldedPair(code: number): number {
  if (code >= 0xe0000) return dropped
  return plainOf(code)
}

function plainOf(code: number): number {
  if (isInvisible(code)) return dropped
  if (code === 0x2212 || (code >= 0x2010 && code <= 0x2015)) return hyphen
  const character = String.fromCodePoint(code)
  const compatible = character.normalize('NFKC')
  if (compatible.length === 1 && compatible.charCodeAt(0) < 0x80) return compatible.charCodeAt(0)
  if (decimalDigit.test(character)) return 0x30 + digitOf(code)
  if (otherSpace.test(character)) return space
  return code > 0xffff ? unknown : code
}

/** Blocks of digits begin at a multiple of 16, or 6 behind one (Unicode, DerivedGeneralCategory). */
function digitOf(code: number): number {
  const nibble = code & 0xf
  if (nibble < 6) return nibble
  return decimalDigit.test(String.fromCodePoint(code - nibble)) ? nibble : nibble - 6
}

/** Soft hyphens, joiners, marks of direction, variation selectors. */
function isInvisible(code: number): boolean {
  return (
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    code === 0xad ||
    code === 0x34f ||
    code === 0x180e ||
    code === 0xfeff
  )
}

const decimalDigit = /\p{Nd}/u
const otherSpace = /\s/
const fourDigits = /^[0-9A-Fa-f]{4}$/
const fewDigits = /^[0-9A-Fa-f]*$/
/** Letters of escapes that stand for white space or a control character. */
const spaces = 'nrtbf'
const backslash = 0x5c
const slash = 0x2f
const space = 0x20
const hyphen = 0x2d
/** Neither occurs in what is folded. */
const dropped = 0xffff
const unknown = 0xfffd
