// `gatehouse token generate`: prints a token for the first start, for operators who provide it.

import { mintToken } from '../../tokens/token.ts'
import { print } from './terminal.ts'

/** Writes a token that is in no store to stdout. */
export async function tokenGenerate(): Promise<number> {
  print(`${mintToken().value}\n`)
  return 0
}
