// `gatehouse token generate`: prints a token for the first start, for operators who provide their own.

import { mintToken } from '../../../tokens/token.ts'
import type { Input } from '../input.ts'
import { printResult } from '../../terminal/output.ts'

export function generate(input: Input): number {
  const { value } = mintToken()
  return printResult(input, { value }, `${value}\n`)
}
