// Patterns in which a star stands for any text, matched in linear time.

/** Must match a whole text, in any case unless it is exact. */
export class Glob {
  readonly #parts: readonly string[]

  constructor(pattern: string, { isExact = false } = {}) {
    this.#parts = (isExact ? pattern : pattern.toLowerCase()).split('*')
  }

  /** Max steps (see `work.ts`) for a text of so many characters. */
  workFor(length: number): number {
    const searched = Math.max(0, this.#parts.length - 2)
    return 2 + searched * (1 + length / 6)
  }

  /** Matches a text, in lower case unless it is exact: each part at the first place that is left. */
  matches(text: string): boolean {
    const parts = this.#parts
    const first = parts[0]!
    const last = parts.length - 1
    if (last === 0) return text === first
    const end = text.length - parts[last]!.length
    if (end < first.length || !text.startsWith(first) || !text.endsWith(parts[last]!)) return false
    let at = first.length
    for (let i = 1; i < last; i++) {
      const index = text.indexOf(parts[i]!, at)
      if (index === -1) return false
      at = index + parts[i]!.length
      if (at > end) return false
    }
    return true
  }
}
