// Field lines as this gateway handles them: a flat list `name, value, name, value, …` in the order received, and beside it one number a line
// that says which of the fields we care about it is. Used by both parsers, and by whoever copies a message to its next hop.

/**
 * The fields that a gateway must recognise. Where a message may go unread begins with `firstPassed` of its kind: a field of a lower id ends here, or we
 * write our own.
 */
export const field = {
  other: 0,
  connection: 1,
  keepAlive: 2,
  proxyConnection: 3,
  te: 4,
  transferEncoding: 5,
  upgrade: 6,
  /** Goes with an offer of h2c, which ends here (RFC 7540 section 3.2.1). */
  http2Settings: 7,
  proxyAuthenticate: 8,
  proxyAuthorization: 9,
  contentLength: 10,
  ray: 11,
  /** An underscore twin (`content_length`): an origin that folds `_` into `-` would take it for the real one. */
  twin: 12,
  host: 13,
  expect: 14,
  forwarded: 15,
  xForwardedFor: 16,
  xForwardedProto: 17,
  xForwardedHost: 18,
  via: 19,
  cdnLoop: 20,
  accept: 21,
  contentType: 22,
  date: 23,
  contentEncoding: 24,
} as const

export type FieldId = (typeof field)[keyof typeof field]

/** A request says of itself only what we believe; an answer is left alone but for what belongs to the hop. */
const firstPassed = { request: field.accept, response: field.twin } as const

/** The field lines of a message, its kind, and the names that its Connection fields list (lower-case; null for none). */
export interface FieldLines {
  readonly kind: keyof typeof firstPassed
  readonly fields: readonly string[]
  readonly ids: readonly FieldId[]
  readonly hopByHop: ReadonlySet<string> | null
}

/** Tells whether a field of this id goes on to the next hop as it came (RFC 9110 section 7.6.1). */
export function crosses(id: FieldId, kind: FieldLines['kind']): boolean {
  return passes(id, firstPassed[kind])
}

/** Writes the field lines of a message that go on to the next hop, as received: not those that end here, nor those that Connection names. */
export function crossingLines(message: FieldLines): string {
  const { fields, ids, hopByHop } = message
  const first = firstPassed[message.kind]
  let lines = ''
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!
    const name = fields[2 * i]!
    if (!passes(id, first) || hopByHop?.has(name.toLowerCase())) continue
    lines += `${name}: ${fields[2 * i + 1]}\r\n`
  }
  return lines
}

function passes(id: FieldId, first: FieldId): boolean {
  return id === field.other || id >= first
}

/** Finds which known field a name is, whatever its case. */
export function fieldId(name: string): FieldId {
  const candidates = byLength[name.length]
  if (candidates === undefined) return field.other
  const first = name.charCodeAt(0) | 0x20
  for (let i = 0; i < candidates.length; i++) {
    const known = candidates[i]!
    if (known.first !== first) continue
    const likeness = compare(name, known.name)
    if (likeness !== DIFFERENT) return likeness === TWIN ? field.twin : known.id
  }
  return field.other
}

/** Tells whether a text equals a lower-case name, ignoring ASCII case. */
export function equalsIgnoreCase(text: string, lower: string): boolean {
  return text.length === lower.length && compare(text, lower) === SAME
}

/** Tells whether a comma-separated list (such as CDN-Loop) holds a lower-case token. */
export function listHas(list: string, token: string): boolean {
  let from = 0
  while (from <= list.length) {
    let to = list.indexOf(',', from)
    if (to === -1) to = list.length
    if (equalsIgnoreCase(list.slice(from, to).trim(), token)) return true
    from = to + 1
  }
  return false
}

const SAME = 0
const TWIN = 1
const DIFFERENT = 2

/** Compares a received name of the same length with a known lower-case one. */
function compare(name: string, known: string): typeof SAME | typeof TWIN | typeof DIFFERENT {
  let result: typeof SAME | typeof TWIN = SAME
  for (let i = 0; i < known.length; i++) {
    const expected = known.charCodeAt(i)
    const actual = name.charCodeAt(i)
    if (actual === expected) continue
    if (actual === 0x5f && expected === 0x2d) result = TWIN
    else if (actual < 0x41 || actual > 0x5a || (actual | 0x20) !== expected) return DIFFERENT
  }
  return result
}

interface KnownField {
  readonly name: string
  readonly first: number
  readonly id: FieldId
}

const byLength: readonly (readonly KnownField[] | undefined)[] = index({
  connection: field.connection,
  'keep-alive': field.keepAlive,
  'proxy-connection': field.proxyConnection,
  te: field.te,
  'transfer-encoding': field.transferEncoding,
  upgrade: field.upgrade,
  'http2-settings': field.http2Settings,
  'proxy-authenticate': field.proxyAuthenticate,
  'proxy-authorization': field.proxyAuthorization,
  'content-length': field.contentLength,
  host: field.host,
  expect: field.expect,
  forwarded: field.forwarded,
  'x-forwarded-for': field.xForwardedFor,
  'x-forwarded-proto': field.xForwardedProto,
  'x-forwarded-host': field.xForwardedHost,
  via: field.via,
  'cdn-loop': field.cdnLoop,
  'svc-ray': field.ray,
  accept: field.accept,
  'content-type': field.contentType,
  date: field.date,
  'content-encoding': field.contentEncoding,
})

function index(ids: Record<string, FieldId>): (KnownField[] | undefined)[] {
  const result: (KnownField[] | undefined)[] = Array.from({ length: 20 })
  for (const [name, id] of Object.entries(ids)) {
    const sameLength = (result[name.length] ??= [])
    sameLength.push({ name, first: name.charCodeAt(0), id })
  }
  return result
}
