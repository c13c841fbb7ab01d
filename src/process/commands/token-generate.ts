// `gatehouse token generate`: a token for the first start, where the operator gives it.

import { mintToken } from '../../tokens/token.ts'
import { print } from './terminal.ts'

/** Writes a token that no store has to stdout. */
export async function tokenGenerate(): Promise<number> {
  print(`${mintToken().value}\n`)
  return 0
}
