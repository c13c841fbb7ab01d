// Reads the query parameters of the management API.

import { fault } from '../../errors/catalogue/api-faults.ts'
import { parseMoment } from '../../base/text/moment.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { Position } from '../../store/contract/store.ts'

export interface PageQuery {
  readonly page: number
  readonly perPage: number
  /** The position before the page; null for numbered pages. */
  readonly after: Position | null
}

export const pageParameters = ['page', 'per_page', 'cursor'] as const

export const maxPerPage = 100
/** The size of a list that the published clients read as a single page. */
export const maxSinglePage = 1_000
const lastPage = 1_000_000
const maxFaults = 20
const maxTextLength = 500

export function strayParameters(query: URLSearchParams, names: readonly string[]): readonly Fault[] {
  if (query.size === 0) return []
  const faults = [...new Set(query.keys())].flatMap(name => {
    if (!names.includes(name)) return [wrong('unknown', name, 'is an unknown query parameter')]
    return query.getAll(name).length > 1 ? [wrong('repeated', name, 'must be given once')] : []
  })
  return faults.slice(0, maxFaults)
}

/** Reads parameters by rule; violations are recorded, so that all faults are reported at once. */
export class Parameters {
  readonly faults: Fault[] = []
  readonly #query: URLSearchParams

  constructor(query: URLSearchParams) {
    this.#query = query
  }

  /** Reads `page` (from 1) or `cursor`, and `per_page`. */
  page(usual = 20, maxItems = maxPerPage): PageQuery {
    return {
      page: this.wholeNumber('page', 1, lastPage, 1),
      perPage: this.wholeNumber('per_page', 1, maxItems, usual),
      after: this.#cursor(),
    }
  }

  /** Reads a parameter that has a few values; the first of them if absent. */
  choice<const Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const value = this.#query.get(name)
    const choice = value === null ? choices[0] : choices.find(choice => choice === value)
    return choice ?? this.#refuse(name, `must be ${choices.join(' or ')}`, choices[0])
  }

  time(name: string): number | null {
    const value = this.#query.get(name)
    if (value === null) return null
    const time = parseMoment(value, { allowsDay: true })
    return (
      time ?? this.#refuse(name, 'must be a date or a time, such as 2030-01-31 or 2030-01-31T12:00:00Z', null)
    )
  }

  text(name: string): string | null {
    const value = this.#query.get(name)
    if (value === null || (value !== '' && value.length <= maxTextLength)) return value
    return this.#refuse(name, `must have 1 to ${maxTextLength} characters`, null)
  }

  /** Reads a whole number between two bounds of at least 0; `usual` if absent. */
  wholeNumber<Usual extends number | null>(
    name: string,
    min: number,
    max: number,
    usual: Usual,
  ): number | Usual {
    const value = this.#query.get(name)
    if (value === null) return usual
    const number = /^[0-9]{1,7}$/.test(value) ? Number(value) : -1
    return number >= min && number <= max
      ? number
      : this.#refuse<number | Usual>(name, `must be a whole number from ${min} to ${max}`, usual)
  }

  /** Records a violation, in words that follow the name of the parameter. */
  refuse(name: string, rule: string): void {
    this.#refuse(name, rule, null)
  }

  #cursor(): Position | null {
    const value = this.#query.get('cursor')
    if (value === null) return null
    if (this.#query.has('page')) return this.#refuse('cursor', 'cannot be combined with page', null)
    return (
      readCursor(value) ?? this.#refuse('cursor', 'must be a cursor from an earlier page of this list', null)
    )
  }

  #refuse<T>(name: string, rule: string, usual: T): T {
    this.faults.push(wrong('invalid', name, rule))
    return usual
  }
}

export function cursorOf({ at, id }: Position): string {
  return Buffer.from(`${at} ${id}`).toString('base64url')
}

function readCursor(text: string): Position | null {
  const [, at, id] =
    /^(-?\d{1,16}(?:\.\d{1,16})?) (\S{1,300})$/.exec(Buffer.from(text, 'base64url').toString()) ?? []
  return at === undefined || id === undefined ? null : { at: Number(at), id }
}

function wrong(kind: 'invalid' | 'unknown' | 'repeated', name: string, rule: string): Fault {
  return fault(kind, name.slice(0, 100), rule)
}
