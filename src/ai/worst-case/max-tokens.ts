// The most output that a request allows, and the member to send where it sets no limit.

import { type Edit, edit, membersAt, type Span } from '../../base/json/members.ts'
import { folded } from '../../base/json/member-names.ts'
import type { RequestScan, ScannedMember, TopName } from './request-scan.ts'

/** Where an API has the limit of the output. */
export interface LimitPlace {
  /** The object that it is in; null for the top level. */
  readonly within: TopName | null
  /** As the provider takes it: one of these is enough. The first is sent where there is none. */
  readonly names: readonly string[]
  /** Further names that the provider may read. */
  readonly others: readonly string[]
  /** What a provider takes for no limit, or refuses, is below this. */
  readonly min: 0 | 1
}

/** The limit that has to be sent, and how. */
export interface Insertion {
  readonly value: number
  readonly edits: readonly Edit[]
  /** In their place: one member that is put first. */
  readonly added: { readonly at: number; readonly bytes: Buffer } | null
}

export interface OutputLimit {
  /** The largest of all limits in the request; else the default. */
  readonly tokens: number
  readonly insert: Insertion | null
}

/** `body` has to have the bytes that the insertion was made for; all of them stay but unusable limits. */
export function insertMaxTokens(body: Buffer, { edits, added }: Insertion): Buffer {
  return added === null ? edit(body, edits) : withBytes(body, added.at, added.bytes)
}

function withBytes(body: Buffer, at: number, bytes: Buffer): Buffer {
  const whole = Buffer.allocUnsafe(body.length + bytes.length)
  for (let i = 0; i < at; i++) whole[i] = body[i]!
  whole.set(bytes, at)
  whole.set(at === 0 ? body : body.subarray(at), at + bytes.length)
  return whole
}

/** A limit that is no whole number counts as none, and is replaced: its reader may take it for none, too. */
export function outputLimit(scan: RequestScan, place: LimitPlace, defaultTokens: number): OutputLimit {
  if (place.within === null && !hasLimit(scan, place)) return withDefault(scan, place, defaultTokens)
  const { json } = scan
  const objects =
    place.within === null
      ? [{ span: wholeOf(json), limits: limitsAtTop(scan, place) }]
      : scan.members
          .filter(({ name }) => name === place.within)
          .map(span => ({ span, limits: isObjectAt(json, span) ? limitsIn(json, span, place) : null }))
  const tokens = largestOf(objects.flatMap(({ limits }) => limits ?? [])) ?? defaultTokens
  const edits = objects.flatMap(({ span, limits }) =>
    limits === null ? [replaced(span, place, tokens)] : editsOf(json, span, limits, place, tokens),
  )
  const isMissing =
    place.within !== null && !scan.members.some(({ name, isExact }) => name === place.within && isExact)
  if (isMissing) edits.push(added(json, wholeOf(json), `"${place.within}":${objectWith(place, tokens)}`))
  return { tokens, insert: edits.length === 0 ? null : { value: tokens, edits, added: null } }
}

function hasLimit({ members }: RequestScan, { names, others }: LimitPlace): boolean {
  for (const { name } of members) if (names.includes(name) || others.includes(name)) return true
  return false
}

/** The usual case, in the fewest steps. */
function withDefault(scan: RequestScan, place: LimitPlace, tokens: number): OutputLimit {
  const { start: at, isEmpty } = scan
  const isSame = last?.place === place && last.limit.tokens === tokens && last.at === at
  if (last !== null && isSame && last.isEmpty === isEmpty) return last.limit
  const bytes = Buffer.from(`${memberOf(place, tokens)}${isEmpty ? '' : ','}`)
  const limit = { tokens, insert: { value: tokens, edits: noEdits, added: { at, bytes } } }
  last = { place, at, isEmpty, limit }
  return limit
}

const noEdits: readonly Edit[] = []

/** Most calls are like the one before. */
let last: {
  readonly place: LimitPlace
  readonly at: number
  readonly isEmpty: boolean
  readonly limit: OutputLimit
} | null = null

function memberOf({ names }: LimitPlace, tokens: number): string {
  return `"${names[0]!}":${tokens}`
}

function largestOf(limits: readonly Limit[]): number | null {
  let largest: number | null = null
  for (const { value } of limits) if (value !== null) largest = Math.max(largest ?? 0, value)
  return largest
}

interface Limit extends Span {
  readonly name: string
  readonly isTaken: boolean
  /** Null if it is no sensible one. */
  readonly value: number | null
  readonly isNull: boolean
}

function limitsAtTop(scan: RequestScan, place: LimitPlace): readonly Limit[] {
  const limits: Limit[] = []
  for (const member of scan.members) {
    const isTaken = member.isExact && place.names.includes(member.name)
    if (isTaken || place.names.includes(member.name) || place.others.includes(member.name))
      limits.push(limitAt(scan.json, member, member.name, isTaken, place))
  }
  return limits
}

function limitsIn(json: Buffer, span: Span, place: LimitPlace): readonly Limit[] {
  const names = [...place.names, ...place.others]
  return membersAt(json, span).flatMap(member => {
    const name = names.find(name => name === member.name || folded(name) === folded(member.name))
    if (name === undefined) return []
    return [limitAt(json, member, name, place.names.includes(member.name), place)]
  })
}

function limitAt(
  json: Buffer,
  { start, end }: Span,
  name: string,
  isTaken: boolean,
  place: LimitPlace,
): Limit {
  const text = json.toString('latin1', start, end)
  const number = digits.test(text) ? Number(text) : Number.NaN
  const value = Number.isSafeInteger(number) && number >= place.min ? number : null
  return { name, isTaken, value, isNull: text === 'null', start, end }
}

const digits = /^\d/

function editsOf(
  json: Buffer,
  span: Span,
  limits: readonly Limit[],
  place: LimitPlace,
  tokens: number,
): Edit[] {
  const edits: Edit[] = []
  const times = new Map<string, number>()
  for (const { name } of limits) times.set(name, (times.get(name) ?? 0) + 1)
  let isLimited = false
  for (const limit of limits) {
    const { name, value, isNull } = limit
    // Null is as good as none at the top level, where a second limit of another name may be refused.
    const isAbsent = isNull && place.within === null && name !== place.names[0] && times.get(name) === 1
    const isWrong = value === null && !isAbsent
    if (isWrong) edits.push({ start: limit.start, end: limit.end, text: String(tokens) })
    isLimited ||= limit.isTaken && !isAbsent
  }
  if (!isLimited) edits.push(added(json, span, memberOf(place, tokens)))
  return edits
}

function added(json: Buffer, { start, end }: Span, member: string): Edit {
  const first = json.indexOf(brace, start) + 1
  let at = first
  while (at < end && json[at]! <= space) at++
  return { start: first, end: first, text: json[at] === braceEnd ? member : `${member},` }
}

function replaced({ start, end }: ScannedMember | Span, place: LimitPlace, tokens: number): Edit {
  return { start, end, text: objectWith(place, tokens) }
}

function objectWith(place: LimitPlace, tokens: number): string {
  return `{${memberOf(place, tokens)}}`
}

function isObjectAt(json: Buffer, { start }: Span): boolean {
  return json[start] === brace
}

function wholeOf(json: Buffer): Span {
  return { start: 0, end: json.length }
}

const brace = 0x7b
const braceEnd = 0x7d
const space = 0x20
