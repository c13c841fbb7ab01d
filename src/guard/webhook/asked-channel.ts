// One text of a stream that a webhook is asked about, which goes on from event to event.

/** UTF-16 units before a window that the webhook gets with it. */
const contextLength = 1_000
/** A word that may go on waits for its end, if it is not longer than that. */
const maxWord = 256
/** Behind it, what follows is another word; scripts that have no spaces between words do not wait. */
const unfinishedWord =
  /[^\s\u3000-\u303f\uff00-\uffef\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+$/u

interface AskedText {
  readonly text: string
  /** How many of its UTF-16 units are decided, and cannot change any more. */
  readonly before: number
}

interface Replacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

export class AskedChannel {
  /** Of several channels, those of one place come one after the other. */
  readonly place: string
  /** In UTF-16 units: all that came. */
  length = 0
  /** Up to where the webhook has let it pass. */
  allowed = 0
  isClosed = false
  /** Up to where it is asked now. */
  #asked = 0
  /** Up to where it can change no more. */
  #decided = 0
  /** The end of what is decided, as the client gets it. */
  #context = ''
  /** What came behind that. */
  #pending = ''
  #replacements: Replacement[] = []

  constructor(place: string) {
    this.place = place
  }

  push(text: string): void {
    this.length += text.length
    this.#pending += text
    if (text !== '') this.isClosed = false
  }

  get isNew(): boolean {
    return this.#askable > this.allowed
  }

  ask(): AskedText {
    this.#asked = this.#askable
    return {
      text: this.#context + this.#pending.slice(0, this.#asked - this.#decided),
      before: this.#context.length,
    }
  }

  allow(): void {
    this.allowed = this.#asked
  }

  /** False if it changes what the client may have already. */
  replace(text: string): boolean {
    if (!text.startsWith(this.#context)) return false
    const start = this.#decided
    const word = this.#wordBefore(this.#asked - start)
    // It may still become another one.
    const isKept = text.endsWith(word) && text.length - word.length >= this.#context.length
    const rest = isKept && word.length < this.#asked - start ? word.length : 0
    const end = this.#asked - rest
    const replacement = text.slice(this.#context.length, text.length - rest)
    this.#replacements.push({ start, end, text: replacement })
    this.#decide(end, replacement)
    this.allow()
    return true
  }

  /** Up to where it may be released: not within a word that may go on, if `waitsForWords`. */
  safe(waitsForWords: boolean): number {
    const size = this.allowed - this.#decided
    const goesOn = this.length > this.allowed || (waitsForWords && !this.isClosed)
    if (!goesOn || size <= 0) return this.allowed
    if (isBoundary(this.#pending.slice(size, size + 1))) return this.allowed
    return this.allowed - this.#wordBefore(size).length
  }

  /** Returns what the client gets of a piece that ends at `end`. */
  release(text: string, end: number): string {
    const start = end - text.length
    let safe = ''
    let at = start
    for (const replacement of this.#replacements) {
      if (replacement.start >= end) break
      if (replacement.start >= start)
        safe += text.slice(at - start, replacement.start - start) + replacement.text
      at = Math.min(replacement.end, end)
    }
    this.#replacements = this.#replacements.filter(replacement => replacement.end > end)
    if (end > this.#decided) this.#decide(end, this.#pending.slice(0, end - this.#decided))
    return safe + text.slice(at - start)
  }

  /** A pair of surrogates is asked about as one. */
  get #askable(): number {
    return this.isClosed || !isHigh(this.#pending.charCodeAt(this.#pending.length - 1))
      ? this.length
      : this.length - 1
  }

  /** Empty if it is too long to wait for. */
  #wordBefore(end: number): string {
    const text = this.#pending.slice(Math.max(0, end - maxWord - 1), end)
    const [word] = unfinishedWord.exec(text) ?? ['']
    return word.length > maxWord ? '' : word
  }

  #decide(end: number, text: string): void {
    const context = (this.#context + text).slice(-contextLength)
    this.#context = isLow(context.charCodeAt(0)) ? context.slice(1) : context
    this.#pending = this.#pending.slice(end - this.#decided)
    this.#decided = end
  }
}

function isBoundary(next: string): boolean {
  return next !== '' && !unfinishedWord.test(next)
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000
}
