// What the count of a key is known by in this process.
import { hash } from 'node:crypto'
import type { Limit } from './limit.ts'

/** The most characters of a key that are remembered as they are. */
const longest = 200

/** Tells a key from those of all limits. It is a text of its own, and short: a key may be cut from a whole head, and as long as one. */
export function keyName(limit: Limit, key: string): string {
  return `${limit.name}\n${key.length > longest ? hash('sha256', key, 'base64url') : key}`
}
