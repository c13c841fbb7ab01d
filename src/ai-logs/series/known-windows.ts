// Sums of windows that are remembered, up to a number of cells: those that were used last.

import type { Cells } from '../../store/log-sums/cells.ts'

interface Known {
  /** That of the store when they were summed. */
  readonly mark: string
  readonly cells: Cells
}

export class KnownWindows {
  readonly #known = new Map<string, Known>()
  readonly #mostCells: number
  #weight = 0

  constructor(mostCells: number) {
    this.#mostCells = mostCells
  }

  /** Returns the sums of a window as they were at a mark; null where they are not known. */
  at(name: string, mark: string): Cells | null {
    const known = this.#known.get(name)
    if (known === undefined || known.mark !== mark) return null
    this.#known.delete(name)
    this.#known.set(name, known)
    return known.cells
  }

  /** Returns what is known of a window, whenever that was. */
  last(name: string): Cells | null {
    return this.#known.get(name)?.cells ?? null
  }

  set(name: string, known: Known): void {
    const before = this.#known.get(name)
    if (before !== undefined) this.#forget(name, before)
    this.#known.set(name, known)
    this.#weight += weightOf(known)
    for (const [oldest, forgotten] of this.#known) {
      if (this.#weight <= this.#mostCells) break
      this.#forget(oldest, forgotten)
    }
  }

  #forget(name: string, known: Known): void {
    this.#known.delete(name)
    this.#weight -= weightOf(known)
  }
}

function weightOf({ cells }: Known): number {
  return cells.size + 2
}
