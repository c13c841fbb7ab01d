// Sets of host names and wildcards.

/** The most characters of a host name (RFC 1035 section 2.3.4). */
export const longestHost = 253

export class HostNames {
  readonly #exact = new Set<string>()
  readonly #suffixes = new Set<string>() // with their dot
  readonly #lengths: readonly number[] // of the suffixes

  /** Takes lower-case names; `*.` stands for one label or more. */
  constructor(names: Iterable<string>) {
    for (const name of names) {
      if (name.startsWith('*.')) this.#suffixes.add(name.slice(1))
      else this.#exact.add(name)
    }
    this.#lengths = [...new Set(Array.from(this.#suffixes, suffix => suffix.length))]
  }

  /** The texts that a look-up takes from its table at most. */
  get lookups(): number {
    return 1 + this.#lengths.length
  }

  /** Whether a lower-case name is one of these; a text that is longer than any name is none. */
  has(host: string): boolean {
    if (host.length > longestHost) return false
    if (this.#exact.has(host)) return true
    for (const length of this.#lengths) {
      const at = host.length - length
      if (at > 0 && host.charCodeAt(at) === dot && this.#suffixes.has(host.slice(at))) return true
    }
    return false
  }
}

const dot = 0x2e
