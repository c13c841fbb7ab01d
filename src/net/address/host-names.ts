// Sets of host names and wildcards.

/** RFC 1035 section 2.3.4. */
export const maxHostLength = 253

export class HostNames {
  readonly #exact = new Set<string>()
  readonly #suffixes = new Set<string>() // with their dot
  readonly #lengths: readonly number[] // of the suffixes

  /** Takes lower-case names; `*.` stands for one or more labels. */
  constructor(names: Iterable<string>) {
    for (const name of names) {
      if (name.startsWith('*.')) this.#suffixes.add(name.slice(1))
      else this.#exact.add(name)
    }
    this.#lengths = [...new Set(Array.from(this.#suffixes, suffix => suffix.length))]
  }

  get lookups(): number {
    return 1 + this.#lengths.length
  }

  has(host: string): boolean {
    if (host.length > maxHostLength) return false
    if (this.#exact.has(host)) return true
    for (const length of this.#lengths) {
      const at = host.length - length
      if (at > 0 && host.charCodeAt(at) === dot && this.#suffixes.has(host.slice(at))) return true
    }
    return false
  }
}

const dot = 0x2e
