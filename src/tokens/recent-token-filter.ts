// Remembers by a few bits which tokens were good lately, and nothing else of them: where one may have been, reading its tag again is needless work.

const places = 1 << 14
const shift = 32 - 14
/** From so many on, most tokens would seem familiar. */
const most = places / 4
/** Characters at the end of a token that tell its place: of a tag, they are random. */
const told = 3

export class RecentTokenFilter {
  readonly #marks = new Uint8Array(places)
  #count = 0

  /** Whether a token may have been noted; false where it was not, and for some that were, too long ago. */
  has(token: string): boolean {
    return this.#marks[placeOf(token)] === 1
  }

  note(token: string): void {
    const place = placeOf(token)
    if (this.#marks[place] === 1) return
    if (this.#count++ === most) {
      this.#marks.fill(0)
      this.#count = 1
    }
    this.#marks[place] = 1
  }
}

function placeOf(token: string): number {
  let place = 0
  for (let i = token.length - told; i < token.length; i++)
    place = Math.imul(place ^ token.charCodeAt(i), 0x9e3779b1)
  return place >>> shift
}
