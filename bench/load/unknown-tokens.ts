// Makes tokens that have the right form and that nobody was given, for drive.ts.
import { randomBytes } from 'node:crypto'
import { mintToken, taggerOf } from '../../src/tokens/token.ts'
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

/** Writes so many tokens with the tags of one who makes those, one a line. */
export function tokensWith(prefix: Prefix, tagger = taggerOf(randomBytes(32))): string {
  return Array.from({ length: UNKNOWN_TOKENS }, () => mintToken(prefix, tagger).value).join('\n')
}
