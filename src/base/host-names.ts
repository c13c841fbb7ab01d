// Sets of host names and wildcards. Called by access rules, which look at where a request comes from.

export class HostNames {
  readonly #exact = new Set<string>()
  readonly #suffixes = new Set<string>() // with their dot

  /** Takes lower-case names; `*.` stands for one label or more. */
  constructor(names: Iterable<string>) {
    for (const name of names) {
      if (name.startsWith('*.')) this.#suffixes.add(name.slice(1))
      else this.#exact.add(name)
    }
  }

  has(host: string): boolean {
    if (this.#exact.has(host)) return true
    if (this.#suffixes.size === 0) return false
    for (let dot = host.indexOf('.', 1); dot !== -1; dot = host.indexOf('.', dot + 1))
      if (this.#suffixes.has(host.slice(dot))) return true
    return false
  }
}
