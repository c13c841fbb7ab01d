// A cache of the sums of windows: the least recently used are evicted beyond a number of cells.

import type { Cells } from '../../store/log-sums/cells.ts'

interface Entry {
  /** The mark of the window in the store when it was summed. */
  readonly mark: string
  readonly cells: Cells
}

export class KnownWindows {
  readonly #entries = new Map<string, Entry>()
  readonly #maxCells: number
  #weight = 0

  constructor(maxCells: number) {
    this.#maxCells = maxCells
  }

  /** Returns the sums of a window if they are cached with this mark. */
  at(name: string, mark: string): Cells | null {
    const entry = this.#entries.get(name)
    if (entry === undefined || entry.mark !== mark) return null
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    return entry.cells
  }

  /** Returns the cached sums of a window even if they are stale. */
  last(name: string): Cells | null {
    return this.#entries.get(name)?.cells ?? null
  }

  set(name: string, entry: Entry): void {
    const before = this.#entries.get(name)
    if (before !== undefined) this.#evict(name, before)
    this.#entries.set(name, entry)
    this.#weight += weightOf(entry)
    for (const [oldest, evicted] of this.#entries) {
      if (this.#weight <= this.#maxCells) break
      this.#evict(oldest, evicted)
    }
  }

  #evict(name: string, entry: Entry): void {
    this.#entries.delete(name)
    this.#weight -= weightOf(entry)
  }
}

function weightOf({ cells }: Entry): number {
  return cells.size + 2
}
