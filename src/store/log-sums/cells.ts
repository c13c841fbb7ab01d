// The calls of a time window, summed by dimension.

import { pause } from '../../base/turns/turns.ts'
import { CallSum, type CallSumRecord, type SummedCall } from './call-sum.ts'
import type { ActingApp, LogSummary } from '../records/records.ts'

export const logDimensions = ['provider', 'model', 'token', 'client'] as const
export type LogDimension = (typeof logDimensions)[number]

export interface Grouping {
  readonly by: readonly LogDimension[]
  /** Window length in ms, aligned to UTC; null for a single window of all time. */
  readonly width: number | null
  /** Limit of groups in a window; further ones are summed together. */
  readonly maxGroups: number
  /** Whether percentiles are needed, which cost memory in each group; default true. */
  readonly hasDurations?: boolean
}

/**
 * The dimensions of a cell; null, or an empty provider, for those not summed by. The name is that of the
 * latest call.
 */
export interface CallKind {
  readonly provider: string
  readonly model: string | null
  readonly tokenId: string | null
  readonly tokenName: string | null
  /** The app that made the calls; its name is `tokenName`. */
  readonly client: string | null
}

interface SharedText {
  readonly text: string
  readonly number: number
}

interface Cell {
  kind: CallKind
  /** Time of the latest call. */
  latest: number
  readonly sum: CallSum
}

type CellRecord = readonly [kind: CallKind, latest: number, sum: CallSumRecord]

type Summed = SummedCall &
  Pick<LogSummary, 'createdAt' | 'provider' | 'model' | 'tokenId' | 'tokenName'> & {
    readonly app?: Pick<ActingApp, 'client'>
  }

export class Cells {
  /** Calls beyond the limit of cells. */
  readonly rest = new CallSum()
  readonly #cells = new Map<string, Cell>()
  /** Texts are interned: thousands of copies would keep the collector busy. */
  readonly #texts = new Map<string, SharedText>()
  readonly #max: number

  constructor(max = 1_000) {
    this.#max = max
  }

  /** Parses the result of `toText`, yielding to other work. */
  static async from(text: string): Promise<Cells> {
    const cells = new Cells()
    const [rest, ...lines] = text.split('\n')
    cells.rest.merge(CallSum.from(JSON.parse(rest!)))
    for (const line of lines) {
      const [kind, latest, sum]: CellRecord = JSON.parse(line)
      const own = cells.#shared(kind)
      cells.#cells.set(cells.#keyOf(own), { kind: own, latest, sum: CallSum.from(sum) })
      await pause()
    }
    return cells
  }

  get size(): number {
    return this.#cells.size
  }

  add(call: Summed, by: readonly LogDimension[] = logDimensions, hasDuration = true): void {
    const hasToken = by.includes('token')
    const hasClient = by.includes('client')
    const kind = {
      provider: by.includes('provider') ? call.provider : '',
      model: by.includes('model') ? call.model : null,
      tokenId: hasToken ? call.tokenId : null,
      tokenName: hasToken || hasClient ? call.tokenName : null,
      client: (hasClient && call.app?.client) || null,
    }
    const sum = this.#cellOf(kind, call.createdAt)?.sum ?? this.rest
    sum.add(call, hasDuration)
  }

  merge(other: Cells): void {
    for (const { kind, latest, sum } of other.#cells.values()) {
      const own = this.#cellOf(kind, latest)?.sum ?? this.rest
      own.merge(sum)
    }
    this.rest.merge(other.rest)
  }

  /** Returns lines of JSON: the rest, then each cell. */
  toText(): string {
    const lines = [JSON.stringify(this.rest.toRecord())]
    for (const { kind, latest, sum } of this.#cells.values())
      lines.push(JSON.stringify([kind, latest, sum.toRecord()] satisfies CellRecord))
    return lines.join('\n')
  }

  all(): Iterable<Cell> {
    return this.#cells.values()
  }

  /** Returns a copy with interned texts. */
  #shared({ provider, model, tokenId, tokenName, client }: CallKind): CallKind {
    return {
      provider: this.#textOf(provider)!.text,
      model,
      tokenId: this.#textOf(tokenId)?.text ?? null,
      tokenName: this.#textOf(tokenName)?.text ?? null,
      client: this.#textOf(client)?.text ?? null,
    }
  }

  /** Returns the key of a kind within these cells. */
  #keyOf({ provider, model, tokenId, client }: CallKind): string {
    const [one, other, third] = [this.#textOf(provider), this.#textOf(tokenId), this.#textOf(client)]
    return `${one?.number} ${other?.number} ${third?.number} ${model ?? '\0'}`
  }

  #textOf(text: string | null): SharedText | null {
    if (text === null) return null
    let shared = this.#texts.get(text)
    if (shared === undefined) this.#texts.set(text, (shared = { text, number: this.#texts.size }))
    return shared
  }

  #cellOf(kind: CallKind, at: number): Cell | null {
    const name = this.#keyOf(kind)
    let cell = this.#cells.get(name)
    if (cell === undefined) {
      if (this.#cells.size === this.#max) return null
      cell = { kind: this.#shared(kind), latest: at, sum: new CallSum() }
      this.#cells.set(name, cell)
    } else if (at > cell.latest) {
      cell.latest = at
      cell.kind = this.#shared(kind)
    }
    return cell
  }
}

/** Sums calls by time window, as `Logs.sum` does. */
export class WindowSums {
  /** By start. */
  readonly windows = new Map<number, Cells>()
  readonly #grouping: Grouping

  constructor(grouping: Grouping) {
    this.#grouping = grouping
  }

  add(call: Summed): void {
    const { by, width, maxGroups, hasDurations } = this.#grouping
    const since = width === null ? 0 : Math.floor(call.createdAt / width) * width
    let cells = this.windows.get(since)
    if (cells === undefined) this.windows.set(since, (cells = new Cells(maxGroups)))
    cells.add(call, by, hasDurations)
  }
}
