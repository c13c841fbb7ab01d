// The mark of the store in Redis, as one text: `identity generation last`.

import type { Mark } from '../../contract/mark.ts'
import { keys } from './keys.ts'

export const readingOfMark = ['GET', keys.mark] as const

export function markIn(text: unknown): Mark | null {
  const parts = typeof text === 'string' ? /^(\S+) (\d+) (\d+)$/.exec(text) : null
  if (parts === null) return null
  const [, identity, generation, last] = parts
  return { identity: identity === '-' ? null : identity!, generation: Number(generation), last: last! }
}
