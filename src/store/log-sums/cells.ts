// The calls of a window of time, summed by what they have in common.

import { pause } from '../../base/turns/turns.ts'
import { CallSum, type CallSumRecord } from './call-sum.ts'
import type { ActingApp, LogSummary } from '../records/records.ts'

/** What calls can be summed by; the name of a token is that of its latest call. */
export const logDimensions = ['provider', 'model', 'token', 'client'] as const
export type LogDimension = (typeof logDimensions)[number]

/** How calls are summed. */
export interface Grouping {
  readonly by: readonly LogDimension[]
  /** Ms of the windows that are summed separately, in UTC; one of all time if null. */
  readonly width: number | null
  /** How many groups a window has at most; further ones are summed together. */
  readonly maxGroups: number
  /** Whether percentiles of the durations are wanted; of thousands of groups they take memory. Default true. */
  readonly hasDurations?: boolean
}

/** What calls have in common; null, or an empty provider, for what they are not summed by. The name is that of the latest of them. */
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
  /** When the latest call was made. */
  latest: number
  readonly sum: CallSum
}

/** A cell as data. */
type CellRecord = readonly [kind: CallKind, latest: number, sum: CallSumRecord]

/** The members of an entry that are summed. */
type Summed = Pick<
  LogSummary,
  | 'createdAt'
  | 'provider'
  | 'model'
  | 'tokenId'
  | 'tokenName'
  | 'success'
  | 'duration'
  | 'tokensIn'
  | 'tokensOut'
  | 'cost'
> & { readonly app?: Pick<ActingApp, 'client'> }

export class Cells {
  /** Calls beyond the maximum number of cells. */
  readonly rest = new CallSum()
  readonly #cells = new Map<string, Cell>()
  /** One of each text that many cells have in common: thousands of copies would keep the collector busy. */
  readonly #texts = new Map<string, SharedText>()
  readonly #max: number

  /** @param max callers choose model names freely, so that there may be any number of cells */
  constructor(max = 1_000) {
    this.#max = max
  }

  /** Reads what `toText` returned, with turns for others between. */
  static async from(text: string): Promise<Cells> {
    const cells = new Cells()
    const [rest, ...lines] = text.split('\n')
    cells.rest.merge(CallSum.from(JSON.parse(rest!)))
    for (const line of lines) {
      const [kind, latest, sum]: CellRecord = JSON.parse(line)
      const own = cells.#shared(kind)
      cells.#cells.set(cells.#nameOf(own), { kind: own, latest, sum: CallSum.from(sum) })
      await pause()
    }
    return cells
  }

  get size(): number {
    return this.#cells.size
  }

  /** Adds a call to those that have the dimensions in common with it. */
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

  /** Returns lines of JSON: the rest, and each cell. */
  toText(): string {
    const lines = [JSON.stringify(this.rest.toRecord())]
    for (const { kind, latest, sum } of this.#cells.values())
      lines.push(JSON.stringify([kind, latest, sum.toRecord()] satisfies CellRecord))
    return lines.join('\n')
  }

  all(): Iterable<Cell> {
    return this.#cells.values()
  }

  /** Returns the kind with the texts that other cells have, too. */
  #shared({ provider, model, tokenId, tokenName, client }: CallKind): CallKind {
    return {
      provider: this.#textOf(provider)!.text,
      model,
      tokenId: this.#textOf(tokenId)?.text ?? null,
      tokenName: this.#textOf(tokenName)?.text ?? null,
      client: this.#textOf(client)?.text ?? null,
    }
  }

  /** Names a kind within these cells, briefly. */
  #nameOf({ provider, model, tokenId, client }: CallKind): string {
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
    const name = this.#nameOf(kind)
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

/** Sums up calls by windows of time, as `Logs.sum` does. */
export class WindowSums {
  /** By their beginning. */
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
