// Selects the format of an error from Accept (RFC 9110, section 12.5.1).

import Negotiator from 'negotiator'
import { ownText } from '../../base/text/own-text.ts'

export type Format = 'html' | 'json' | 'problem' | 'markdown' | 'plain'

/** The typical kind of client: a range that covers any format selects its preference. */
interface Readers {
  readonly usual: Format
  /** The formats that each range covers, in order of preference. */
  readonly formatsOf: ReadonlyMap<string, readonly Format[]>
  /** Ranges that are treated as another one. */
  readonly aliases: ReadonlyMap<string, string>
  readonly cache: Map<string, Format>
}

/** Returns the format that a client prefers; HTML if it accepts none of ours. */
export function negotiate(accept: string | null): Format {
  return negotiateFor(people, accept)
}

/** Returns the format for an API client; JSON if it names none of ours, or waits for events. */
export function negotiateForPrograms(accept: string | null): Format {
  return negotiateFor(programs, accept)
}

function negotiateFor(readers: Readers, accept: string | null): Format {
  if (accept === null || accept === '') return readers.usual
  return readers.cache.get(accept) ?? cached(readers, accept, choose(readers, accept))
}

const mediaTypes: Readonly<Record<Format, string>> = {
  html: 'text/html',
  json: 'application/json',
  problem: 'application/problem+json',
  markdown: 'text/markdown',
  plain: 'text/plain',
}

const formatsOf: readonly (readonly [range: string, formats: readonly Format[]])[] = [
  ['text/*', ['markdown', 'html', 'plain']],
  ['application/*', ['json', 'problem']],
  ['text/html', ['html']],
  ['application/json', ['json']],
  ['application/problem+json', ['problem']],
  ['text/markdown', ['markdown']],
  ['text/plain', ['plain']],
]

const people: Readers = {
  usual: 'html',
  formatsOf: new Map([['*/*', ['html', 'json', 'markdown', 'problem', 'plain']], ...formatsOf]),
  aliases: new Map(),
  cache: new Map(),
}

const programs: Readers = {
  usual: 'json',
  formatsOf: new Map([['*/*', ['json', 'problem', 'markdown', 'html', 'plain']], ...formatsOf]),
  aliases: new Map([['text/event-stream', 'application/json']]),
  cache: new Map(),
}

function choose(readers: Readers, accept: string): Format {
  const { usual, formatsOf } = readers
  const negotiator = new Negotiator({ headers: { accept: rangesIn(readers, beginningOf(accept)) } })
  for (const range of negotiator.mediaTypes()) {
    // A type that only this range covers: whatever ranks below it has a range of its own with a lower q.
    const anyOther = range.replaceAll('*', 'x')
    for (const format of formatsOf.get(range)!) {
      const own = mediaTypes[format]
      if (negotiator.mediaType([own, anyOther]) === own) return format
    }
  }
  return usual
}

const maxLength = 4096

/** Cuts an oversized Accept at its last comma within the bound, so that parsing it costs little. */
function beginningOf(accept: string): string {
  if (accept.length <= maxLength) return accept
  return accept.slice(0, Math.max(0, accept.lastIndexOf(',', maxLength)))
}

/** Lists the relevant well-formed ranges, each once with its highest q, in the form `range;q=0.5`. */
function rangesIn({ formatsOf, aliases }: Readers, accept: string): string {
  const weights = new Map<string, number>()
  for (const member of membersOf(accept)) {
    const [, type, parameters] = rangePattern.exec(member) ?? []
    const named = type?.toLowerCase() ?? ''
    const range = aliases.get(named) ?? named
    if (!formatsOf.has(range)) continue
    const weight = weightOf(parameters!)
    // A client that excludes event streams still accepts what the range is treated as.
    if (weight === 0 && range !== named) continue
    if (weight === null || weight <= (weights.get(range) ?? -1)) continue
    weights.delete(range)
    weights.set(range, weight)
  }
  return Array.from(weights, ([range, weight]) => `${range};q=${weight}`).join()
}

/** Splits at the commas outside of quotes; an unclosed quote hides no comma. */
function membersOf(accept: string): readonly string[] {
  return Array.from(accept.matchAll(members)).flatMap(([member, close]) =>
    close === '' ? member.split(',') : [member],
  )
}

/** Reads the q among parameters: 1 if absent, null if it is not a valid qvalue. */
function weightOf(parameters: string): number | null {
  for (const [, name, value] of parameters.matchAll(eachParameter)) {
    if (name?.toLowerCase() === 'q') return qvalue.test(value ?? '') ? Number(value) : null
  }
  return 1
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = '"(?:[^"\\\\]|\\\\.)*"'
const parameter = `[ \\t]*;(?:[ \\t]*(${token})(?:=(${token}|${quoted}))?)?`

const members = /(?:[^",]+|"(?:[^"\\]+|\\.)*("|\\?$))+/gs
const rangePattern = new RegExp(`^[ \\t]*(${token}/${token})((?:${parameter})*)[ \\t]*$`)
const eachParameter = new RegExp(parameter, 'g')
const qvalue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/**
 * Clients send few different Accept lines: the results for the most recent ones of reasonable length are
 * cached.
 */
const maxCached = 256
const maxCachedLength = 256

function cached({ cache }: Readers, accept: string, format: Format): Format {
  if (accept.length > maxCachedLength) return format
  if (cache.size === maxCached) cache.delete(cache.keys().next().value!)
  // A copy, since a slice would keep the whole head of its request alive.
  cache.set(ownText(accept), format)
  return format
}
