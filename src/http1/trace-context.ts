// The fields by which a request says of which trace it is a part (W3C Trace Context, level 2), read strictly: what is not as it must be is as if it had not come.

/** What `traceparent` says of a request. */
interface TraceParent {
  /** 32 lower-case hex digits, not all 0. */
  readonly traceId: string
  /** The span of the sender: 16 lower-case hex digits, not all 0. */
  readonly parentId: string
  /** The bits of `traceFlag` that are set; others have no meaning yet, and end here (section 3.2.2.5). */
  readonly flags: number
}

/** The flags that level 2 knows. */
export const traceFlag = { sampled: 1, random: 2 } as const

/** Reads a `traceparent` (section 3.2); null where it is none, or of a version that cannot be. */
export function parseTraceParent(value: string): TraceParent | null {
  if (value.length < wholeLength || !parent.test(value)) return null
  // A later version may have more behind it, but only behind another hyphen (section 4.3).
  if (value.length > wholeLength && (value.startsWith('00') || value[wholeLength] !== '-')) return null
  const traceId = value.slice(3, 35)
  const parentId = value.slice(36, 52)
  if (traceId === noTrace || parentId === noParent) return null
  const flags = Number.parseInt(value.slice(53, wholeLength), 16)
  return { traceId, parentId, flags: flags & (traceFlag.sampled | traceFlag.random) }
}

/** Writes the value of `traceparent` in version 00. */
export function traceParentText({ traceId, parentId, flags }: TraceParent): string {
  return `00-${traceId}-${parentId}-0${flags}`
}

/**
 * Returns a `tracestate`, joined from its fields in their order, as it may be passed on (section 3.3); null for one that must not be: a member that is none, one key twice,
 * or more members than there may be.
 */
export function parseTraceState(joined: string): string | null {
  const members: string[] = []
  const keys = new Set<string>()
  const parts = joined.split(',', mostParts + 1)
  if (parts.length > mostParts) return null
  for (const part of parts) {
    const text = trimmed(part)
    if (text === '') continue
    if (!member.test(text)) return null
    members.push(text)
    keys.add(text.slice(0, text.indexOf('=')))
  }
  return members.length > mostMembers || keys.size < members.length ? null : members.join(',')
}

const wholeLength = 55
const parent = /^(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}/
const noTrace = '0'.repeat(32)
const noParent = '0'.repeat(16)

const mostMembers = 32
/** Empty members count for nothing, but are not read without end. */
const mostParts = 4 * mostMembers
/** A key (section 3.3.1.3.1) and a value (section 3.3.1.3.2) that does not end with a blank. */
const member = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[ !-+\--<>-~]{0,255}[!-+\--<>-~]$/

/** Removes the blanks around a member (OWS, RFC 9110 section 5.6.3). */
function trimmed(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isBlank(text, from)) from++
  while (to > from && isBlank(text, to - 1)) to--
  return text.slice(from, to)
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t'
}
