// A row of the table of commands.

import type { Input } from './input.ts'

export interface Command {
  readonly usage: string
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  /** The most arguments it takes besides its options, and the fewest: none by default. */
  readonly args: number
  readonly least?: number
  /** Loads the code of the command, which returns the exit code. */
  readonly load: () => Promise<(input: Input) => number | Promise<number>>
}

/** An option, as `parseArgs` takes it, with its text in the command's help. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  /** The placeholder for the value in the help. */
  readonly value?: string
  readonly help?: string
}
