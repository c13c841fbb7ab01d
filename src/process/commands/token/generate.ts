// `gatehouse token generate`: prints a token for the first start, for operators who provide their own.

import { mintToken } from '../../../tokens/token.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { print } from '../../terminal/output.ts'

/** Writes a token that is in no store to stdout. */
export function generate(input: Input): number {
  const { value } = mintToken()
  print(input.json ? json({ value }) : `${value}\n`)
  return 0
}
