// The calls of a window of time, summed by all that charts can be drawn and filtered by.

import { matches } from '../../store/contract/log-match.ts'
import type { LogSummary } from '../../store/records/records.ts'
import type { LogField, LogFilter } from '../../store/contract/store.ts'
import { CallSum, type KeptCallSum } from './call-sum.ts'

/** What calls have in common; names are those of the latest of them. */
export interface Kind {
  readonly provider: string
  readonly model: string | null
  readonly tokenId: string | null
  readonly tokenName: string | null
  /** The app that made the calls; its name is `tokenName`. */
  readonly client: string | null
}

interface Cell {
  kind: Kind
  /** When the latest call was made. */
  latest: number
  readonly sum: CallSum
}

/** A cell as it is kept. */
type KeptCell = readonly [
  provider: string,
  model: string | null,
  tokenId: string | null,
  tokenName: string | null,
  client: string | null,
  latest: number,
  sum: KeptCallSum,
]

/** The fields by which cells can be filtered. */
const cellFields: readonly LogField[] = ['provider', 'model', 'token_id', 'client_id']

/** Callers choose model names freely, so that there may be any number of cells. */
const mostCells = 1_000

export class Cells {
  /** Calls that found no cell any more. */
  readonly rest = new CallSum()
  readonly #cells = new Map<string, Cell>()

  /** Reads what `toText` wrote. */
  static from(text: string): Cells {
    const [rest, kept]: readonly [KeptCallSum, readonly KeptCell[]] = JSON.parse(text)
    const cells = new Cells()
    cells.rest.merge(CallSum.from(rest))
    for (const [provider, model, tokenId, tokenName, client, latest, sum] of kept) {
      const kind = { provider, model, tokenId, tokenName, client }
      cells.#cells.set(nameOf(kind), { kind, latest, sum: CallSum.from(sum) })
    }
    return cells
  }

  get size(): number {
    return this.#cells.size
  }

  add(entry: LogSummary): void {
    const { provider, model, tokenId, tokenName, app, createdAt } = entry
    const client = app?.client ?? null
    const cell = this.#cellOf({ provider, model, tokenId, tokenName, client }, createdAt)
    const sum = cell?.sum ?? this.rest
    sum.add(entry)
  }

  merge(other: Cells): void {
    for (const { kind, latest, sum } of other.#cells.values()) {
      const own = this.#cellOf(kind, latest)?.sum ?? this.rest
      own.merge(sum)
    }
    this.rest.merge(other.rest)
  }

  /** Writes all of it, to be kept. */
  toText(): string {
    const kept = [...this.#cells.values()].map(({ kind, latest, sum }) => {
      const { provider, model, tokenId, tokenName, client } = kind
      return [provider, model, tokenId, tokenName, client, latest, sum]
    })
    return JSON.stringify([this.rest, kept])
  }

  /** Returns the cells whose calls match filters that `arePlain`. */
  *matching(filters: readonly LogFilter[]): Generator<Cell> {
    for (const cell of this.#cells.values()) {
      const { client, ...kind } = cell.kind
      const app = client === null ? {} : { app: { client } }
      if (filters.length === 0 || matches({ ...kind, ...app } as unknown as LogSummary, filters)) yield cell
    }
  }

  #cellOf(kind: Kind, at: number): Cell | null {
    const name = nameOf(kind)
    let cell = this.#cells.get(name)
    if (cell === undefined) {
      if (this.#cells.size === mostCells) return null
      cell = { kind, latest: at, sum: new CallSum() }
      this.#cells.set(name, cell)
    } else if (at > cell.latest) {
      cell.latest = at
      cell.kind = kind
    }
    return cell
  }
}

function nameOf({ provider, model, tokenId, client }: Kind): string {
  return `${provider}\0${model ?? '\0'}\0${tokenId ?? ''}\0${client ?? ''}`
}

/** Whether cells suffice to apply filters; else entries have to be looked at. */
export function arePlain(filters: readonly LogFilter[]): boolean {
  return filters.every(({ field }) => cellFields.includes(field))
}
