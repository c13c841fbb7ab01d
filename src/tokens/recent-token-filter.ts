// Remembers recently verified tokens in a few bits each: their tags need no second check.

const places = 1 << 14
const shift = 32 - 14
/** Beyond this number, most tokens would seem familiar. */
const maxTokens = places / 4
/** Characters at the end of a token that are hashed: they belong to the tag and are random. */
const hashedLength = 3

export class RecentTokenFilter {
  readonly #marks = new Uint8Array(places)
  #count = 0

  /** Whether a token may have been added; also false for some that were added too long ago. */
  has(token: string): boolean {
    return this.#marks[placeOf(token)] === 1
  }

  note(token: string): void {
    const place = placeOf(token)
    if (this.#marks[place] === 1) return
    if (this.#count++ === maxTokens) {
      this.#marks.fill(0)
      this.#count = 1
    }
    this.#marks[place] = 1
  }
}

function placeOf(token: string): number {
  let place = 0
  for (let i = token.length - hashedLength; i < token.length; i++)
    place = Math.imul(place ^ token.charCodeAt(i), 0x9e3779b1)
  return place >>> shift
}
