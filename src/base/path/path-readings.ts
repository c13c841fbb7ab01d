// How origins may read an ambiguous path, so that no spelling slips past a rule on paths. Access rules,
// expressions, limits, routes and rewrites all take the readings from the request.

import { decodedPath, isPlainPath, normalPath, withoutDots, withoutEmpty, withPlainDots } from './path.ts'

/**
 * Returns the path of a target as origins may read it, the normal form first; a plain path keeps its query.
 * Origins keep dot segments or resolve them before or after decoding, keep empty segments or join them, take
 * what follows two slashes for a host, encoded slashes and backslashes for slashes, `;` for the start of
 * parameters, `%00`, `%3F` and `%23` for the end, leave out encoded blanks around segments and line breaks,
 * decode what is encoded more than once, as `%u0061`, or in more bytes than UTF-8 allows, in all
 * combinations. All are decoded as in the normal form. `*` is the origin as a whole, `/`. Null for a path
 * that mixes too many of these to be legitimate: nothing that depends on a path may let it pass.
 */
export function pathReadings(target: string): readonly string[] | null {
  if (target === '*') return root
  if (isPlainPath(target)) return [target]
  const path = decodedPath(target)
  if (!ambiguous.test(path)) return [withPlainDots(path)]
  return path.length > maxLength ? null : readingsOf(path, normalPath(path))
}

/** Max steps (see `Work`) for a path of so many characters. */
export function readingWork(length: number): number {
  return 200 + 2 * Math.min(length, maxLength) + length / 8
}

/** Whether a path has only one reading, itself, which others can be compared with. */
export function isReadAlike(path: string): boolean {
  const all = pathReadings(path)
  return all?.length === 1 && all[0] === path
}

const root = ['/']
/** A URL as a segment, with another in its query, has nine. */
const maxReadings = 12
/** Of a path with several readings, which bounds their cost. */
const maxLength = 4096
const ambiguous =
  /\/(?:\/|%20|(?:\.|%2E){1,2}(?:\/|$))|[;\\]|%(?:[01]|20(?:[/%]|$)|23|2F|3B|3F|5C|25[\dA-Fa-f]{2}|(?:25)*u[\dA-Fa-f]{4}|C[01]%[89AB]|E0%[89]|F0%8)/

type Habit = (path: string) => string

/** What some readers do and others don't: first before dots are decoded, then after. */
const earlyHabits: readonly Habit[] = [
  decodedAgain,
  path => path.replace(/;[^/]*/g, ''),
  path => path.replaceAll('\\', '/'),
  withoutDots,
]
const lateHabits: readonly Habit[] = [
  path => path.replaceAll('%2F', '/'),
  path => path.replaceAll('%5C', '/'),
  withoutHost,
  withoutBrokenHost,
  path => path.replace(/(?:;|%3B)[^/]*/g, ''),
  withoutRest,
  withoutHiddenQuery,
  withoutBlanks,
  withoutEmpty,
  withoutDots,
  withoutEmpty,
  withoutRest,
  withoutHiddenQuery,
]

function readingsOf(path: string, normal: string): readonly string[] | null {
  const early = readBy(earlyHabits, new Set([path]))
  const late = early && readBy(lateHabits, new Set(Array.from(early, withPlainDots)))
  return late && [normal, ...late.difference(new Set([normal]))]
}

/** Null if there are too many. */
function readBy(habits: readonly Habit[], readings: Set<string>): Set<string> | null {
  for (const habit of habits) {
    for (const reading of [...readings]) readings.add(habit(reading))
    if (readings.size > maxReadings) return null
  }
  return readings
}

/** Takes what two slashes begin for a host, as URL parsers do with a target (RFC 3986 section 4.2). */
function withoutHost(path: string): string {
  const [host] = /^\/{2,}[^/]*/.exec(path) ?? []
  return host === undefined ? path : path.slice(host.length) || '/'
}

/** Likewise, as parsers do that drop tabs and line breaks first, even between two slashes. */
function withoutBrokenHost(path: string): string {
  return /^\/+%0[9AD]/.test(path) ? withoutHost(path.replace(lineBreaks, '')) : path
}

function withoutRest(path: string): string {
  const end = path.indexOf('%00')
  return end === -1 ? path : path.slice(0, end)
}

/** As a second server sees it with `proxy_pass http://app$uri` of nginx, or rewrites of Apache. */
function withoutHiddenQuery(path: string): string {
  const end = path.search(/%3F|%23/)
  return end === -1 ? path : path.slice(0, end)
}

const lineBreaks = /%0[9AD]/g
/** A run can begin in one place only, so that a long one takes no longer than others. */
const blanks = /(?<=\/)(?:%(?:[01][\dA-F]|20))+|(?<!%(?:[01][\dA-F]|20))(?:%(?:[01][\dA-F]|20))+(?=\/|$)/g

/**
 * Like URL parsers, which drop tabs and line breaks; routers that trim segments (Spring, CVE-2016-5007); and
 * patterns whose `$` also matches before a final line break (Django).
 */
function withoutBlanks(path: string): string {
  return /%[012]/.test(path) ? path.replace(lineBreaks, '').replace(blanks, '') : path
}

const encodedAgain = /%(?:25)+(?=[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})/g
const wide = /%u([\dA-Fa-f]{4})/g

/** More bytes for a character than it needs, which a decoder must refuse (RFC 3629 section 3). */
const overlong = /%(?:C[01]|E0%[89][\dA-F]|F0%8[\dA-F]%[89AB][\dA-F])%[89AB][\dA-F]/g

/** As a second server behind the first does; also the `%u0061` escapes that HTTP.sys of Windows accepts. */
function decodedAgain(path: string): string {
  if (!/%(?:25|u|C[01]|E0|F0)/.test(path)) return path
  const again = path.replace(encodedAgain, '%').replace(wide, triplets)
  return decodedPath(decodedPath(again).replace(overlong, shortened))
}

function shortened(sequence: string): string {
  const bytes = Buffer.from(sequence.replaceAll('%', ''), 'hex')
  // The first byte of such a sequence has but one bit of the character.
  const code = bytes.subarray(1).reduce((bits, byte) => (bits << 6) | (byte & 63), bytes[0]! & 1)
  return triplets('', code.toString(16).padStart(4, '0'))
}

function triplets(_: string, hex: string): string {
  const code = Number.parseInt(hex, 16)
  if (code < 0x80) return `%${hex.slice(2)}`
  if (code < 0x800) return triplet(0xc0 | (code >> 6)) + triplet(0x80 | (code & 63))
  return triplet(0xe0 | (code >> 12)) + triplet(0x80 | ((code >> 6) & 63)) + triplet(0x80 | (code & 63))
}

function triplet(byte: number): string {
  return `%${byte.toString(16)}`
}
