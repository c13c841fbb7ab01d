// Makes tokens that have the right form and that nobody was given, for drive.ts.
import { mintToken } from '../../src/tokens/token.ts'
import { keep } from './launch.ts'

/** How many there are before they repeat. */
export const UNKNOWN_TOKENS = 100_000

/** What a token begins with. */
export type Prefix = 'svct_' | 'svco_'

const paths = new Map<Prefix, string>()

/** Returns the path of a file with one token a line, which the first call for a prefix writes. */
export function unknownTokens(prefix: Prefix): string {
  const path = paths.get(prefix) ?? keep(`unknown-${prefix}tokens`, tokensWith(prefix))
  paths.set(prefix, path)
  return path
}

function tokensWith(prefix: Prefix): string {
  return Array.from({ length: UNKNOWN_TOKENS }, () => mintToken(prefix).value).join('\n')
}
