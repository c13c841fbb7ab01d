// A configuration as it stands in the file, before anybody asks what it means: made by parse, read by shapes.

import type { Place } from './mistake.ts'

export type Tree = Empty | Scalar | Sequence | Mapping

/** A key with nothing behind it. */
interface Empty extends Place {
  readonly kind: 'empty'
}

/** Any single value; types are a matter of the shape that reads it, so that `10`, "10" and a variable that holds 10 are one. */
export interface Scalar extends Place {
  readonly kind: 'scalar'
  readonly text: string
  /** How many characters after its place the text begins, as it is and on one line; null where it is written otherwise. */
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
