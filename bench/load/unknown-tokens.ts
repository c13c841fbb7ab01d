// Makes tokens that have the right form and that nobody was given, for drive.ts.
import { mintToken } from '../../src/tokens/token.ts'
import { keep } from './launch.ts'

/** How many there are before they repeat. */
export const UNKNOWN_TOKENS = 100_000

let path: string | null = null

/** Returns the path of a file with one token a line, which the first call writes. */
export function unknownTokens(): string {
  path ??= keep('unknown-tokens', Array.from({ length: UNKNOWN_TOKENS }, () => mintToken().value).join('\n'))
  return path
}
