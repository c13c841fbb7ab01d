// What origins may make of a path that not all read alike, so that no spelling slips by a rule on paths. Decided here, once: access rules, expressions, limits,
// routes and rewrites ask whoever has the request for its readings.
import {
  decodedPath,
  hasDotSegment,
  isPlainPath,
  normalPath,
  withoutDots,
  withoutEmpty,
  withPlainDots,
} from './path.ts'

export interface PathReadings {
  /** The normal form first. Those of a plain path have the query behind them that it came with. */
  readonly all: readonly string[]
  /** Less those that leave a `.` or `..` in the path that is written as such: whoever does so knows no such path, but may go by how it begins. */
  readonly resolved: readonly string[]
}

/**
 * Returns the path of a target as origins may read it: those that keep dot segments or resolve them before or after decoding, keep empty segments or join them,
 * take what follows two slashes for a host, encoded slashes and backslashes for slashes, `;` for the start of parameters, `%00` for the end, in all
 * combinations. All are decoded as in the normal form. `*` is the origin as a whole, `/`. Null for a path that mixes too many of these to be meant: nothing that
 * depends on a path may let it pass.
 */
export function pathReadings(target: string): PathReadings | null {
  if (target === '*') return ROOT
  if (isPlainPath(target)) return only(target)
  const path = decodedPath(target)
  if (!AMBIGUOUS.test(path)) return only(withPlainDots(path))
  return path.length > LONGEST ? null : readingsOf(path, normalPath(path))
}

/** The most steps (see `Work`) that it takes to find the readings of a path of so many characters. */
export function readingWork(length: number): number {
  return 200 + 2 * Math.min(length, LONGEST) + length / 2
}

/** Whether a path has one reading, itself, as it has to for others to be compared with it. */
export function isReadAlike(path: string): boolean {
  const all = pathReadings(path)?.all
  return all?.length === 1 && all[0] === path
}

function only(path: string): PathReadings {
  const all = [path]
  return { all, resolved: all }
}

const ROOT = only('/')
/** The most readings of a path that may be meant: three of the differences at once. */
const MOST = 8
/** The most characters of a path that can be read in several ways, which bounds what the readings cost. */
const LONGEST = 4096
const AMBIGUOUS = /\/(?:\/|(?:\.|%2E){1,2}(?:\/|$))|[;\\]|%(?:00|2F|3B|5C)/

type Habit = (path: string) => string

/** What some readers do and others don't, in an order in which they may do it: before dots are decoded, and then. */
const EARLY: readonly Habit[] = [
  path => path.replace(/;[^/]*/g, ''),
  path => path.replaceAll('\\', '/'),
  withoutDots,
]
const LATE: readonly Habit[] = [
  path => path.replaceAll('%2F', '/'),
  path => path.replaceAll('%5C', '/'),
  withoutHost,
  path => path.replace(/(?:;|%3B)[^/]*/g, ''),
  withoutRest,
  withoutEmpty,
  withoutDots,
  withoutEmpty,
  withoutRest,
]

function readingsOf(path: string, normal: string): PathReadings | null {
  const early = readBy(EARLY, new Set([path]))
  const late = early && readBy(LATE, mapped(early, withPlainDots))
  if (late === null) return null
  const all = [normal, ...late.difference(new Set([normal]))]
  const earlyResolved = mapped(early!, withoutDots)
  if (earlyResolved.isSupersetOf(early!)) return { all, resolved: all }
  const lateResolved = readBy(LATE, mapped(earlyResolved, withPlainDots))!
  return { all, resolved: all.filter(path => lateResolved.has(path) || !hasDotSegment(path)) }
}

/** Adds to the readings what each habit makes of each; null where they become too many. */
function readBy(habits: readonly Habit[], readings: Set<string>): Set<string> | null {
  for (const habit of habits) {
    for (const reading of [...readings]) readings.add(habit(reading))
    if (readings.size > MOST) return null
  }
  return readings
}

function mapped(paths: ReadonlySet<string>, habit: Habit): Set<string> {
  return new Set(Array.from(paths, habit))
}

/** Takes what two slashes begin for a host, as URL parsers do that are given a target (RFC 3986 section 4.2). */
function withoutHost(path: string): string {
  const [host] = /^\/{2,}[^/]*/.exec(path) ?? []
  return host === undefined ? path : path.slice(host.length) || '/'
}

function withoutRest(path: string): string {
  const end = path.indexOf('%00')
  return end === -1 ? path : path.slice(0, end)
}
