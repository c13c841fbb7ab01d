// W3C Trace Context, level 2, read strictly: invalid fields are treated as missing.

import { withoutOws } from '../../base/text/ows.ts'
import { hexValue } from './characters.ts'

interface TraceParent {
  /** 32 lower-case hex digits, not all 0. */
  readonly traceId: string
  /** The sender's span: 16 lower-case hex digits, not all 0. */
  readonly parentId: string
  /** Undefined bits are not passed on (section 3.2.2.5). */
  readonly flags: number
}

export const traceFlag = { sampled: 1, random: 2 } as const

/** Section 3.2; null if invalid. */
export function parseTraceParent(value: string): TraceParent | null {
  const flags = traceFlagsOf(value)
  return flags === -1 ? null : { traceId: value.slice(3, 35), parentId: value.slice(36, 52), flags }
}

/** Only the flags; -1 if invalid. */
export function traceFlagsOf(value: string): number {
  if (value.length < wholeLength || !hasEnd(value)) return -1
  if (value.charCodeAt(2) !== hyphen || value.charCodeAt(35) !== hyphen || value.charCodeAt(52) !== hyphen)
    return -1
  if (!isHex(value, 0, 2) || value.startsWith('ff') || !isHex(value, 53, wholeLength)) return -1
  if (!isId(value, 3, 35) || !isId(value, 36, 52)) return -1
  return hexValue[value.charCodeAt(54)]! & (traceFlag.sampled | traceFlag.random)
}

export function traceParentText({ traceId, parentId, flags }: TraceParent): string {
  return `00-${traceId}-${parentId}-0${flags}`
}

/** As it may be passed on (section 3.3); null if invalid. */
export function parseTraceState(joined: string): string | null {
  const members: string[] = []
  const keys = new Set<string>()
  const parts = joined.split(',', maxParts + 1)
  if (parts.length > maxParts) return null
  for (const part of parts) {
    const text = withoutOws(part)
    if (text === '') continue
    if (!member.test(text)) return null
    members.push(text)
    keys.add(text.slice(0, text.indexOf('=')))
  }
  return members.length > maxMembers || keys.size < members.length ? null : members.join(',')
}

const wholeLength = 55
const hyphen = 0x2d
const zero = 0x30

/** Later versions may append more, but only after another hyphen (section 4.3). */
function hasEnd(value: string): boolean {
  return value.length === wholeLength || (!value.startsWith('00') && value.charCodeAt(wholeLength) === hyphen)
}

function isId(value: string, from: number, to: number): boolean {
  let at = from
  while (at < to && value.charCodeAt(at) === zero) at++
  return at < to && isHex(value, at, to)
}

function isHex(value: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = value.charCodeAt(at)
    if ((code < zero || code > 0x39) && (code < 0x61 || code > 0x66)) return false
  }
  return true
}

const maxMembers = 32
/** Empty members count for nothing, but only so many are read. */
const maxParts = 4 * maxMembers
/** A key (section 3.3.1.3.1) and a value (section 3.3.1.3.2) that does not end with a blank. */
const member = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[ !-+\--<>-~]{0,255}[!-+\--<>-~]$/
