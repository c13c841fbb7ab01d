// Finds the zone of a host and the route of a path, once each per request. Tables are sorted when built; a
// lookup runs no regular expression, and allocates only if a wildcard may match.

import { leads } from '../base/path/path.ts'

/**
 * Looks up a host name: the exact name, otherwise the longest `*.` suffix (the star matches one or more
 * labels), otherwise the fallback.
 */
export class HostLookup<T> {
  readonly #exact = new Map<string, T>()
  readonly #wildcards = new Map<string, T>() // by suffix, with its dot
  readonly #suffixLengths = new Set<number>()
  readonly #fallback: T | null

  /** Takes lower-case names; of two equal ones, the last counts. */
  constructor(entries: Iterable<readonly [host: string, value: T]>, fallback: T | null = null) {
    this.#fallback = fallback
    for (const [host, value] of entries) {
      if (!host.startsWith('*.')) this.#exact.set(host, value)
      else this.#wildcards.set(host.slice(1), value)
    }
    for (const suffix of this.#wildcards.keys()) this.#suffixLengths.add(suffix.length)
  }

  /** Returns the value for a lower-case host name without port, brackets and trailing dot. */
  find(host: string): T | null {
    return this.#exact.get(host) ?? this.#findWildcard(host) ?? this.#fallback
  }

  #findWildcard(host: string): T | undefined {
    for (let dot = host.indexOf('.', 1); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      if (!this.#suffixLengths.has(host.length - dot)) continue
      const match = this.#wildcards.get(host.slice(dot))
      if (match !== undefined) return match
    }
    return undefined
  }
}

/**
 * Looks up a path: the longest prefix that ends at a segment boundary, so that `/api` matches `/api`,
 * `/api/x` and `/api?x`, but not `/apix`.
 */
export class PathLookup<T> {
  readonly #prefixes: readonly string[]
  readonly #values: readonly T[]
  /** The value for every path, so that none needs to be parsed; null if it depends on the path. */
  readonly always: T | null

  /** Takes prefixes in normal form; of two equal ones, the first counts. */
  constructor(entries: Iterable<readonly [prefix: string, value: T]>) {
    const sorted = [...entries].sort(([a], [b]) => b.length - a.length)
    this.#prefixes = sorted.map(([prefix]) => prefix)
    this.#values = sorted.map(([, value]) => value)
    this.always = sorted[0]?.[0] === '/' ? sorted[0][1] : null
  }

  /**
   * Returns the value for a path by its readings (`path-readings.ts`): null for none, `ambiguous` if the
   * readings have different values or are too many.
   */
  find(paths: readonly string[] | null): T | null | 'ambiguous' {
    if (paths === null) return 'ambiguous'
    const match = this.#find(paths[0]!)
    for (let i = 1; i < paths.length; i++) if (this.#find(paths[i]!) !== match) return 'ambiguous'
    return match
  }

  #find(path: string): T | null {
    for (let i = 0; i < this.#prefixes.length; i++) {
      if (leads(this.#prefixes[i]!, path)) return this.#values[i]!
    }
    return null
  }
}
