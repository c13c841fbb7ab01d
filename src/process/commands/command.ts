// What a row of the table of commands says.

import type { Input } from './input.ts'

export interface Command {
  readonly usage: string
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  /** The most arguments it takes beside its options, and the fewest: none unless said. */
  readonly args: number
  readonly least?: number
  /** Loads the code of the command, which returns the exit code. */
  readonly load: () => Promise<(input: Input) => number | Promise<number>>
}

/** An option, as `parseArgs` takes it, and what its command's own help says of it. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  /** What stands for the value in the help. */
  readonly value?: string
  readonly help?: string
}
