// What origins may make of a path that not all read the same way, so that no spelling passes by a rule on paths. Called by access rules.
import { isPlainPath, normalPath } from './path.ts'

/**
 * Gives the path in normal form, then what it is to readers who take encoded slashes or backslashes for slashes, `;` for the start of parameters or `%00` for
 * the end, in all combinations; of a plain path the path itself, with the query that may be behind it. `*` is the origin as a whole: `/`.
 */
export function pathReadings(target: string): readonly string[] {
  if (target === '*') return ROOT
  if (isPlainPath(target)) return [target]
  const [path = ''] = target.split('?', 1)
  return AMBIGUOUS.test(path) ? allReadings(path) : [normalPath(path)]
}

const ROOT = ['/']
const AMBIGUOUS = /[;\\]|%(?:2f|5c|00)/i

/** What some readers do before they resolve dot segments, in this order; parameters go before or after decoding. */
const HABITS: readonly ((path: string) => string)[] = [
  withoutParameters,
  path => path.replace(/%2f/gi, '/'),
  path => path.replace(/%5c|\\/gi, '/'),
  withoutParameters,
  withoutRest,
]

/** Keeps one of those that are the same, so that one kind of character makes two readings. */
function allReadings(path: string): readonly string[] {
  const read = new Set([path])
  for (const habit of HABITS) for (const reading of [...read]) read.add(habit(reading))
  const resolved = Array.from(read, normalPath)
  return [...new Set([...resolved, ...resolved.map(withoutRest)])]
}

function withoutParameters(path: string): string {
  return path.replace(/;[^/]*/g, '')
}

function withoutRest(path: string): string {
  return path.replace(/%00.*/, '')
}
