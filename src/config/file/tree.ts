// The structure of a configuration file, before its settings are interpreted.

import type { Place } from './mistake.ts'

export type Tree = Empty | Scalar | Sequence | Mapping

interface Empty extends Place {
  readonly kind: 'empty'
}

/** Any single value, untyped: `10`, "10" and a variable with 10 are the same. */
export interface Scalar extends Place {
  readonly kind: 'scalar'
  readonly text: string
  /** Characters between its position and its text, if that is unmodified and on one line; null otherwise. */
  readonly inset: number | null
}

export interface Sequence extends Place {
  readonly kind: 'sequence'
  readonly items: readonly Tree[]
}

export interface Mapping extends Place {
  readonly kind: 'mapping'
  readonly entries: ReadonlyMap<string, Entry>
}

export interface Entry {
  readonly key: Place
  readonly value: Tree
}
