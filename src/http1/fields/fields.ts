// Field lines: a flat list `name, value, …` in the order received, and for each line the id of a known field.

import { isTokenByte } from './characters.ts'
import { type Claim, claimedNames } from './claimed-names.ts'
import { setsOwnCookie, withoutOwnCookies } from './own-cookies.ts'
import { withoutOws } from '../../base/text/ows.ts'

/** The order matters: fields below `firstPassed` of the kind of message are not passed on. */
export const field = {
  other: 0,
  connection: 1,
  keepAlive: 2,
  proxyConnection: 3,
  te: 4,
  transferEncoding: 5,
  upgrade: 6,
  /** Comes with an offer of h2c, which ends here (RFC 7540 section 3.2.1). */
  http2Settings: 7,
  proxyAuthenticate: 8,
  proxyAuthorization: 9,
  contentLength: 10,
  ray: 11,
  hop: 12,
  /** A look-alike (`content_length`, `content.length`), which CGI turns into the real field. */
  twin: 13,
  host: 14,
  expect: 15,
  /** CGI turns it into the variable `HTTP_PROXY` (CVE-2016-5385). */
  proxy: 16,
  /** Some frameworks take it for the request's path (`X-Original-URL`), although no rule has checked it. */
  otherPath: 17,
  claimedCertificate: 18,
  /** Set by this gateway only (RFC 9440 section 2.4). */
  clientCertificate: 19,
  /** Set by this gateway only: who passed the gates of a route. */
  identity: 20,
  forwarded: 21,
  xForwardedFor: 22,
  xForwardedProto: 23,
  xForwardedHost: 24,
  xForwarded: 25,
  /** `X-Real-IP` and others, and one that includes the port. */
  clientAddress: 26,
  clientEndpoint: 27,
  /** `X-Scheme`, `Front-End-Https`, and the requested port and host. */
  claimedScheme: 28,
  claimedSecurity: 29,
  claimedPort: 30,
  claimedHost: 31,
  via: 32,
  cdnLoop: 33,
  accept: 34,
  contentType: 35,
  date: 36,
  contentEncoding: 37,
  authorization: 38,
  wwwAuthenticate: 39,
  /** MS-N2HT section 2.2.3. */
  persistentAuth: 40,
  /** Passed on in part: together, so that one comparison tells them from the rest. */
  cookie: 41,
  setCookie: 42,
  /** Last, so that one comparison leaves them out. */
  traceparent: 43,
  tracestate: 44,
} as const

export type FieldId = (typeof field)[keyof typeof field]

/** A request loses untrusted descriptions of the client; a response only what belongs to the hop. */
const firstPassed = { request: field.accept, response: field.twin } as const

/** `hopByHop`: the names that Connection lists, lower-case; null for none. */
export interface FieldLines {
  readonly kind: keyof typeof firstPassed
  readonly fields: readonly string[]
  readonly ids: readonly FieldId[]
  readonly hopByHop: ReadonlySet<string> | null
}

/** Whether a field is passed on as received (RFC 9110 section 7.6.1). */
export function crosses(id: FieldId, kind: FieldLines['kind']): boolean {
  return passes(id, firstPassed[kind])
}

/**
 * Writes the field lines that go on to the next hop: without hop-by-hop fields, without our own cookies
 * unless the origin is `atHome`, and with those of the trace only if `withTrace`.
 */
export function crossingLines(message: FieldLines, withTrace = true, atHome = false): string {
  const { fields, ids, hopByHop } = message
  const first = firstPassed[message.kind]
  const end = withTrace ? Number.POSITIVE_INFINITY : field.traceparent
  let lines = ''
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!
    const name = fields[2 * i]!
    if (!passes(id, first) || id >= end || hopByHop?.has(name.toLowerCase())) continue
    const value = id < field.cookie || atHome ? fields[2 * i + 1]! : abroad(id, fields[2 * i + 1]!)
    if (value !== null) lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** The value of a field as another server may receive or set it; null for nothing. */
export function abroad(id: FieldId, value: string): string | null {
  if (id === field.cookie) return withoutOwnCookies(value)
  return id === field.setCookie && setsOwnCookie(value) ? null : value
}

function passes(id: FieldId, first: FieldId): boolean {
  return id === field.other || id >= first
}

export function isSettable(id: FieldId, kind: FieldLines['kind']): boolean {
  return crosses(id, kind) || isClaim(id)
}

/** Whether proxies use the field to describe the client, besides X-Forwarded-* and Forwarded. */
export function isClaim(id: FieldId): boolean {
  const isOfClient = id >= field.clientAddress && id <= field.claimedHost
  return isOfClient || id === field.otherPath || id === field.claimedCertificate
}

/** Whether the field shows that another hop has passed the request on. */
export function tellsOfHop(id: FieldId): boolean {
  const isOfWay = id >= field.forwarded && id <= field.cdnLoop
  return isOfWay || id === field.ray || id === field.hop || id === field.twin
}

export function fieldId(name: string): FieldId {
  const first = name.charCodeAt(0) & 31
  const candidates = byStart[name.length * 32 + first]
  if (candidates !== undefined)
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[i]!
      const likeness = compare(name, candidate.name)
      if (likeness !== different)
        return likeness === twin && !hasAnySpelling(candidate.id) ? field.twin : candidate.id
    }
  return ofFamily(name)
}

/** Some names of certificate fields are written with underscores in the first place. */
function hasAnySpelling(id: FieldId): boolean {
  return id === field.claimedCertificate
}

function ofFamily(name: string): FieldId {
  const families = byFamily[familyKey(name)]
  if (families === undefined) return field.other
  for (let i = 0; i < families.length; i++) {
    const { name: start, id } = families[i]!
    if (name.length < start.length || compare(name, start) === different) continue
    if (hasAnySpelling(id)) return id
    return name.length === start.length ? field.other : spellingOf(name, id)
  }
  return field.other
}

function spellingOf(name: string, id: FieldId): FieldId {
  return /[^A-Za-z0-9-]/.test(name) ? field.twin : id
}

export function equalsIgnoreCase(text: string, lower: string): boolean {
  return text.length === lower.length && compare(text, lower) === same
}

export function firstValue(fields: readonly string[], name: string): string | null {
  for (let i = 0; i < fields.length; i += 2) if (equalsIgnoreCase(fields[i]!, name)) return fields[i + 1]!
  return null
}

export function listHas(list: string, token: string): boolean {
  let from = 0
  while (from <= list.length) {
    let to = list.indexOf(',', from)
    if (to === -1) to = list.length
    if (equalsIgnoreCase(withoutOws(list.slice(from, to)), token)) return true
    from = to + 1
  }
  return false
}

const same = 0
const twin = 1
const different = 2

function compare(name: string, candidate: string): typeof same | typeof twin | typeof different {
  let result: typeof same | typeof twin = same
  for (let i = 0; i < candidate.length; i++) {
    const expected = candidate.charCodeAt(i)
    const actual = name.charCodeAt(i)
    if (actual === expected) continue
    if ((actual | 0x20) === expected && actual >= 0x41 && actual <= 0x5a) continue
    if (expected !== 0x2d || !isFolded(actual)) return different
    result = twin
  }
  return result
}

function isFolded(code: number): boolean {
  const lower = code | 0x20
  const isAlphanumeric = (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39)
  return isTokenByte[code] === 1 && !isAlphanumeric
}

interface KnownField {
  readonly name: string
  readonly id: FieldId
}

/** The field that tells origins who passed the gates of a route; names that begin with it are reserved. */
export const identityField = 'svc-identity'

/** RFC 9440 section 2, and the subject and fingerprint. */
export const certificateFields = {
  certificate: 'Client-Cert',
  chain: 'Client-Cert-Chain',
  subject: 'svc-client-subject',
  fingerprint: 'svc-client-fingerprint',
} as const

const ofClaim: Readonly<Record<Claim, FieldId>> = {
  address: field.clientAddress,
  endpoint: field.clientEndpoint,
  scheme: field.claimedScheme,
  security: field.claimedSecurity,
  port: field.claimedPort,
  host: field.claimedHost,
  path: field.otherPath,
  certificate: field.claimedCertificate,
  rest: field.xForwarded,
}

const claimed: readonly KnownField[] = (Object.keys(claimedNames) as Claim[]).flatMap(claim =>
  claimedNames[claim].map(name => ({ name, id: ofClaim[claim] })),
)

/** By length and the last five bits of the first letter, which leaves few to compare with. */
const byStart: readonly (readonly KnownField[] | undefined)[] = index({
  ...Object.fromEntries(claimed.filter(({ name }) => !name.endsWith('*')).map(({ name, id }) => [name, id])),
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
  proxy: field.proxy,
  via: field.via,
  'cdn-loop': field.cdnLoop,
  'svc-ray': field.ray,
  'svc-hop': field.hop,
  ...Object.fromEntries(
    Object.values(certificateFields).map(name => [name.toLowerCase(), field.clientCertificate]),
  ),
  [identityField]: field.identity,
  accept: field.accept,
  'content-type': field.contentType,
  date: field.date,
  'content-encoding': field.contentEncoding,
  authorization: field.authorization,
  'www-authenticate': field.wwwAuthenticate,
  'persistent-auth': field.persistentAuth,
  cookie: field.cookie,
  'set-cookie': field.setCookie,
  traceparent: field.traceparent,
  tracestate: field.tracestate,
})

function index(ids: Record<string, FieldId>): (KnownField[] | undefined)[] {
  const longest = Math.max(...Object.keys(ids).map(name => name.length))
  const result: (KnownField[] | undefined)[] = Array.from({ length: (longest + 1) * 32 })
  for (const [name, id] of Object.entries(ids))
    (result[name.length * 32 + (name.charCodeAt(0) & 31)] ??= []).push({ name, id })
  return result
}

/** The last five bits of an X in either case. */
const x = 24

/** The last five bits of the first two letters, or of the two after `X-`: most names differ in them. */
function familyKey(name: string): number {
  const first = name.charCodeAt(0) & 31
  if (first !== x) return first * 32 + (name.charCodeAt(1) & 31)
  return 1024 + (name.charCodeAt(2) & 31) * 32 + (name.charCodeAt(3) & 31)
}

const byFamily: readonly (readonly KnownField[] | undefined)[] = familyIndex()

function familyIndex(): (KnownField[] | undefined)[] {
  const result: (KnownField[] | undefined)[] = Array.from({ length: 2048 })
  const families = claimed.filter(({ name }) => name.endsWith('*'))
  for (const { name, id } of [...families, { name: `${identityField}-*`, id: field.identity }])
    (result[familyKey(name)] ??= []).push({ name: name.slice(0, -1), id })
  return result
}
