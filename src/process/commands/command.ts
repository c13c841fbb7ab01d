// A row of the table of commands.

import type { Input } from './input.ts'
import type { Option } from './options.ts'

export interface Command {
  readonly usage: string
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  readonly arg?: 'required' | 'optional'
  readonly load: () => Promise<(input: Input) => number | Promise<number>>
}
