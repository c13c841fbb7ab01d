// Which blocks of the code under test have run, by V8's precise coverage of this thread.

import { Session, type Profiler } from 'node:inspector'
import { pathToFileURL } from 'node:url'
import { root } from '../../help/source.ts'

/** What ran since the last look: per script, 1 for each character of the source that did. */
export type Reached = ReadonlyMap<string, Uint8Array>

/** Must be made before the code under test is loaded: V8 counts no blocks of what it has compiled earlier. */
export class Coverage {
  /** Milliseconds that a look takes, on average. */
  lookCost = 0
  readonly #session = new Session()
  #covers: readonly string[] = []
  #all = new Map<string, Uint8Array>()
  /** Where ranges began or ended, per script. */
  readonly #borders = new Map<string, Set<number>>()

  constructor() {
    this.#session.connect()
    this.#post('Profiler.enable')
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Names the paths whose blocks count. */
  watch(paths: readonly string[]): void {
    this.#covers = paths.map(path => pathToFileURL(`${root}${path}`).href)
  }

  /** Returns what ran since the last look, which is not yet counted as reached. */
  look(): Reached {
    const began = performance.now()
    const reached = new Map<string, Uint8Array>()
    const taken = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
    for (const { url, functions } of taken.result)
      if (this.#covers.some(path => url.startsWith(path))) reached.set(url, this.#mapOf(url, functions))
    const cost = performance.now() - began
    this.lookCost = this.lookCost === 0 ? cost : 0.9 * this.lookCost + 0.1 * cost
    return reached
  }

  isNew(reached: Reached): boolean {
    return [...reached].some(([url, map]) => {
      const known = this.#all.get(url)
      return known === undefined ? map.includes(1) : exceeds(map, known)
    })
  }

  /** Whether one look has all that another one had beyond what is counted. */
  hasAllNews(reached: Reached, of: Reached): boolean {
    return [...of].every(([url, map]) => {
      const known = this.#all.get(url)
      const has = reached.get(url)
      for (let i = 0; i < map.length; i++)
        if (map[i] === 1 && (known === undefined || known[i] !== 1) && has?.[i] !== 1) return false
      return true
    })
  }

  count(reached: Reached): void {
    for (const [url, map] of reached) {
      const known = this.#all.get(url)
      if (known === undefined) this.#all.set(url, map.slice())
      else if (known.length < map.length) this.#all.set(url, merged(map.slice(), known))
      else merged(known, map)
    }
  }

  /** Forgets what is counted. */
  clear(): void {
    this.#all = new Map()
  }

  /** Returns the number of blocks that are counted, and of all in the scripts that have run at all. */
  blocks(): { readonly reached: number; readonly known: number } {
    let [reached, known] = [0, 0]
    for (const [url, borders] of this.#borders) {
      const map = this.#all.get(url)
      const starts = [...borders].sort((a, b) => a - b).slice(0, -1)
      known += starts.length
      reached += starts.filter(at => map?.[at] === 1).length
    }
    return { reached, known }
  }

  #mapOf(url: string, functions: readonly Profiler.FunctionCoverage[]): Uint8Array {
    const length = functions.reduce((max, { ranges }) => Math.max(max, ranges[0]!.endOffset), 0)
    const map = new Uint8Array(length)
    let borders = this.#borders.get(url)
    if (borders === undefined) this.#borders.set(url, (borders = new Set()))
    // Outer ranges come before those in them.
    for (const { ranges } of functions)
      for (const { startOffset, endOffset, count } of ranges) {
        map.fill(count > 0 ? 1 : 0, startOffset, endOffset)
        borders.add(startOffset).add(endOffset)
      }
    return map
  }

  #post(method: string, parameters: object = {}): unknown {
    let result: unknown
    this.#session.post(method, parameters, (error, value) => {
      if (error !== null) throw error
      result = value
    })
    return result
  }
}

function exceeds(map: Uint8Array, known: Uint8Array): boolean {
  for (let i = 0; i < map.length; i++) if (map[i] === 1 && known[i] !== 1) return true
  return false
}

function merged(into: Uint8Array, from: Uint8Array): Uint8Array {
  for (let i = 0; i < from.length; i++) if (from[i] === 1) into[i] = 1
  return into
}
