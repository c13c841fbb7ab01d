// What a command is given by cli.ts.

import { fileURLToPath } from 'node:url'

/** The options of the command's row, and what stood beside them. */
export interface Input {
  readonly config?: string
  readonly accept?: string
  readonly args: readonly string[]
}

/** Returns the path of the configuration: the option, else GATEHOUSE_CONFIG, else the file of that name beside the program. */
export function configPath({ config }: Input, fallback = 'gatehouse.yaml'): string {
  return (
    config ??
    process.env.GATEHOUSE_CONFIG ??
    fileURLToPath(new URL(`../../config/${fallback}`, import.meta.url))
  )
}
