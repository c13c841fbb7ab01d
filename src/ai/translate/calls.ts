// Tool calls: to which one a piece of a stream belongs, where its arguments end, and what its id is.

import { randomBytes } from 'node:crypto'
import { type JsonObject, objectIn, textIn } from './json.ts'
import { isObject } from './rules.ts'

/** The provider's id, unless that is missing or was used already. */
export class CallIds {
  readonly #used = new Set<string>()

  take(id: unknown): string {
    const text = textIn(id)
    const own = text === '' || this.#used.has(text) ? `call_${randomBytes(12).toString('hex')}` : text
    this.#used.add(own)
    return own
  }
}

/** As JSON text, also if a provider sends an object; '' for none. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  const isEmpty = isObject(value) && Object.keys(value).length === 0
  return value === undefined || value === null || isEmpty ? '' : JSON.stringify(value)
}

export class ObjectEnd {
  /** Only space may follow. */
  isReached = false
  hasBegun = false
  #depth = 0
  #isInString = false
  #isEscaped = false

  /** Returns false if something follows the object. */
  take(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (isSpace(code)) continue
      if (this.isReached) return false
      if (!this.hasBegun && code !== brace) this.#depth = Number.POSITIVE_INFINITY
      this.hasBegun = true
      this.#step(code)
    }
    return true
  }

  #step(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (code === quote) this.#isInString = !this.#isInString
    else if (this.#isInString) this.#isEscaped = code === backslash
    else if (code === brace) this.#depth++
    else if (code === braceEnd) this.isReached = --this.#depth === 0
  }
}

export class StreamedCall {
  readonly kind = 'call' as const
  readonly place: unknown
  readonly end = new ObjectEnd()
  id = ''
  name = ''
  unsent = ''
  /** A name again behind the end is a repetition, and with arguments to follow another call. */
  isNamedAgain = false

  constructor(place: unknown) {
    this.place = place
  }

  take(piece: JsonObject): boolean {
    const { name, arguments: value } = objectIn(piece.function)
    this.id ||= textIn(piece.id)
    this.name ||= textIn(name)
    const text = argumentsText(value)
    if (this.end.isReached && textIn(name) !== '') this.isNamedAgain = true
    // Only space may follow the end, and it is not needed.
    if (!this.end.isReached) this.unsent += text
    return this.end.take(text)
  }

  /** Some providers repeat the name in every piece. */
  isRepeatedBy(piece: JsonObject): boolean {
    const { name, arguments: value } = objectIn(piece.function)
    if (this.name !== '' && this.name !== name) return false
    if (placeOf(piece) !== this.place) return false
    const id = textIn(piece.id)
    if (id !== '' && this.id !== '') {
      return id === this.id && (!this.end.isReached || argumentsText(value).trim() === '')
    }
    return this.name === '' || (this.end.hasBegun && !this.end.isReached)
  }
}

export class StreamedCalls {
  readonly #byId = new Map<string, StreamedCall>()
  readonly #byPlace = new Map<unknown, StreamedCall>()
  #last: StreamedCall | undefined

  get isEmpty(): boolean {
    return this.#last === undefined
  }

  /** A piece with a name begins a new call. */
  continuedBy(piece: JsonObject): StreamedCall | undefined {
    const call = this.#find(textIn(piece.id), placeOf(piece))
    const { name, arguments: value } = objectIn(piece.function)
    if (textIn(name) !== '') return call?.isRepeatedBy(piece) ? call : undefined
    return call?.isNamedAgain && argumentsText(value).trim() !== '' ? undefined : call
  }

  begin(piece: JsonObject): StreamedCall {
    const before = this.#find(textIn(piece.id), placeOf(piece))
    const call = new StreamedCall(placeOf(piece))
    if (before?.isNamedAgain && textIn(objectIn(piece.function).name) === '') call.name = before.name
    const id = textIn(piece.id) || (call.name === '' ? '' : before!.id)
    if (id !== '') this.#byId.set(id, call)
    this.#byPlace.set(call.place, call)
    this.#last = call
    return call
  }

  /** Some providers omit the index, others the id, and some have one index or one id for all. */
  #find(id: string, place: unknown): StreamedCall | undefined {
    const sameId = this.#byId.get(id)
    if (place === undefined) return sameId ?? this.#last
    if (sameId?.place === place) return sameId
    return this.#byPlace.get(place) ?? (this.#last?.place === undefined ? this.#last : undefined)
  }
}

function placeOf({ index }: JsonObject): unknown {
  return index ?? undefined
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

const quote = 0x22
const backslash = 0x5c
const brace = 0x7b
const braceEnd = 0x7d
