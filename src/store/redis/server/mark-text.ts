// The mark of the store in Redis, as one text: `identity generation last`.

import type { Mark } from '../../contract/mark.ts'
import { keys } from './keys.ts'

/** The command that reads it. */
export const readingOfMark = ['GET', keys.mark] as const

/** Parses a mark as written by the scripts. */
export function markIn(text: unknown): Mark | null {
  const parts = typeof text === 'string' ? /^(\S+) (\d+) (\d+)$/.exec(text) : null
  if (parts === null) return null
  const [, identity, generation, last] = parts
  return { identity: identity === '-' ? null : identity!, generation: Number(generation), last: last! }
}
