// Field lines as this gateway handles them: a flat list `name, value, name, value, …` in the order received, and beside it one number a line that says
// which of the fields we care about it is.

import { isTokenByte } from './characters.ts'

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
  /** What this gateway tells its own side port of a client. */
  hop: 12,
  /** A twin (`content_length`, `content.length`): an origin that folds what is no letter or digit into `_`, as CGI names have it, would take it for the real one. */
  twin: 13,
  host: 14,
  expect: 15,
  /** A program started by CGI takes it for `HTTP_PROXY` (CVE-2016-5385). */
  proxy: 16,
  /** Another path, host or scheme than that of the request, which some frameworks take in its place (`X-Original-URL`): no rule would have seen it. Or the certificate of a client, as another proxy would tell of it. */
  otherTarget: 17,
  /** What this gateway tells origins of the certificate of a client: nobody else may (RFC 9440 section 2.4). */
  clientCertificate: 18,
  forwarded: 19,
  xForwardedFor: 20,
  xForwardedProto: 21,
  xForwardedHost: 22,
  /** Whatever else begins with `X-Forwarded-`, and what tells an address in a form of its own. */
  xForwarded: 23,
  /** One of the other names under which the address of a client is told (`X-Real-IP`). */
  clientAddress: 24,
  via: 25,
  cdnLoop: 26,
  accept: 27,
  contentType: 28,
  date: 29,
  contentEncoding: 30,
  /** Those of a trace are the last, so that one comparison leaves them out. */
  traceparent: 31,
  tracestate: 32,
} as const

export type FieldId = (typeof field)[keyof typeof field]

/** A request says of itself only what we believe; a response is left alone but for what belongs to the hop. */
const firstPassed = { request: field.accept, response: field.twin } as const

/** The field lines of a message, its kind, and the names that its Connection fields list (lower-case; null for none). */
export interface FieldLines {
  readonly kind: keyof typeof firstPassed
  readonly fields: readonly string[]
  readonly ids: readonly FieldId[]
  readonly hopByHop: ReadonlySet<string> | null
}

/** Whether a field of this id goes on to the next hop as it came (RFC 9110 section 7.6.1). */
export function crosses(id: FieldId, kind: FieldLines['kind']): boolean {
  return passes(id, firstPassed[kind])
}

/** Writes the field lines of a message that go on to the next hop, as received: not those that end here, nor those that Connection names; those of its trace only `withTrace`. */
export function crossingLines(message: FieldLines, withTrace = true): string {
  const { fields, ids, hopByHop } = message
  const first = firstPassed[message.kind]
  const end = withTrace ? Number.POSITIVE_INFINITY : field.traceparent
  let lines = ''
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!
    const name = fields[2 * i]!
    if (!passes(id, first) || id >= end || hopByHop?.has(name.toLowerCase())) continue
    lines += `${name}: ${fields[2 * i + 1]}\r\n`
  }
  return lines
}

function passes(id: FieldId, first: FieldId): boolean {
  return id === field.other || id >= first
}

/** Whether an operator may set a field of this id: what crosses, and what only clients that are not trusted may not say. */
export function isSettable(id: FieldId, kind: FieldLines['kind']): boolean {
  return crosses(id, kind) || id === field.clientAddress || id === field.otherTarget
}

/** Whether a field of this id shows that a request was passed on by another hop. */
export function tellsOfHop(id: FieldId): boolean {
  const isOfWay = id >= field.forwarded && id <= field.cdnLoop
  return isOfWay || id === field.ray || id === field.hop || id === field.twin
}

/** Finds which known field a name is, whatever its case. */
export function fieldId(name: string): FieldId {
  const first = name.charCodeAt(0) & 31
  const candidates = byStart[name.length * 32 + first]
  if (candidates !== undefined)
    for (let i = 0; i < candidates.length; i++) {
      const known = candidates[i]!
      const likeness = compare(name, known.name)
      if (likeness !== different) return likeness === twin ? field.twin : known.id
    }
  return first === x && name.length > xForwarded.length ? idOfRest(name) : field.other
}

/** The last five bits of an X in either case. */
const x = 24
const xForwarded = 'x-forwarded-'

/** Finds whether a name begins with `X-Forwarded-`; the names that we write ourselves are found before. */
function idOfRest(name: string): FieldId {
  if (compare(name, xForwarded) === different) return field.other
  return /[^A-Za-z0-9-]/.test(name) ? field.twin : field.xForwarded
}

/** Whether a text equals a lower-case name, ignoring ASCII case. */
export function equalsIgnoreCase(text: string, lower: string): boolean {
  return text.length === lower.length && compare(text, lower) === same
}

/** Whether a comma-separated list (such as CDN-Loop) holds a lower-case token. */
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

const same = 0
const twin = 1
const different = 2

/** Compares a received name with a known lower-case one, as far as that goes. */
function compare(name: string, known: string): typeof same | typeof twin | typeof different {
  let result: typeof same | typeof twin = same
  for (let i = 0; i < known.length; i++) {
    const expected = known.charCodeAt(i)
    const actual = name.charCodeAt(i)
    if (actual === expected) continue
    if ((actual | 0x20) === expected && actual >= 0x41 && actual <= 0x5a) continue
    if (expected !== 0x2d || !isFolded(actual)) return different
    result = twin
  }
  return result
}

/** Whether a byte of a name is no letter, digit or hyphen. */
function isFolded(code: number): boolean {
  const lower = code | 0x20
  const isAlphanumeric = (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39)
  return isTokenByte[code] === 1 && !isAlphanumeric
}

interface KnownField {
  readonly name: string
  readonly id: FieldId
}

/** The names beside X-Forwarded-For and Forwarded under which proxies, CDNs and hosts tell the address of a client. */
export const addressNames: readonly string[] = [
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'x-true-client-ip',
  'x-real-client-ip',
  'client-ip',
  'x-cluster-client-ip',
  'x-remote-ip',
  'x-remote-addr',
  'remote-addr',
  'x-originating-ip',
  'x-forwarded',
  'x-forward-for',
  'forwarded-for',
  'x-original-forwarded-for',
  'x-envoy-external-address',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'fastly-client-ip',
  'fly-client-ip',
  'do-connecting-ip',
  'ali-cdn-real-ip',
  'cdn-src-ip',
  'incap-client-ip',
  'x-sucuri-clientip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-appengine-user-ip',
  'x-appengine-remote-addr',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'x-proxyuser-ip',
  'real-ip',
  'remote-ip',
  'http-client-ip',
  'http-x-forwarded-for',
  'x-vercel-forwarded-for',
  'x-nf-client-connection-ip',
  'eo-client-ip',
  'eo-connecting-ip',
  'oxygen-buyer-ip',
  'ar-real-ip',
  'x-original-for',
  'http-x-forwarded',
  'http-forwarded',
  'http-forwarded-for',
  'http-x-real-ip',
  'http-x-cluster-client-ip',
]

/** The names beside X-Forwarded-Host and X-Forwarded-Proto under which proxies tell what a client asked for: the path, the host and the scheme. */
export const targetNames: readonly string[] = [
  'x-original-url',
  'x-rewrite-url',
  'x-original-uri',
  'x-envoy-original-path',
  'x-original-host',
  'x-host',
  'x-http-host-override',
  'x-original-proto',
  'x-scheme',
  'x-url-scheme',
  'front-end-https',
  'cf-visitor',
]

/** The names beside X-Forwarded-* and Client-Cert under which proxies tell of the certificate of a client. */
export const certificateNames: readonly string[] = [
  'x-ssl-client-cert',
  'x-ssl-client-verify',
  'x-ssl-client-s-dn',
  'x-ssl-client-i-dn',
  'x-ssl-client-dn',
  'x-ssl-client-cn',
  'x-ssl-client-serial',
  'x-ssl-client-fingerprint',
  'ssl-client-cert',
  'ssl-client-verify',
  'ssl-client-subject-dn',
  'ssl-client-issuer-dn',
  'x-client-cert',
  'x-client-verify',
  'x-client-dn',
  'x-arr-clientcert',
  'x-amzn-mtls-clientcert',
  'x-amzn-mtls-clientcert-leaf',
  'x-amzn-mtls-clientcert-subject',
  'x-amzn-mtls-clientcert-issuer',
  'x-amzn-mtls-clientcert-serial-number',
  'x-amzn-mtls-clientcert-validity',
]

/** The fields in which origins learn of the certificate of a client: RFC 9440 section 2, and its subject and fingerprint. */
export const certificateFields = {
  certificate: 'Client-Cert',
  chain: 'Client-Cert-Chain',
  subject: 'svc-client-subject',
  fingerprint: 'svc-client-fingerprint',
} as const

/** By length and the last five bits of the first letter, which leave few to compare with. */
const byStart: readonly (readonly KnownField[] | undefined)[] = index({
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
  ...Object.fromEntries([...targetNames, ...certificateNames].map(name => [name, field.otherTarget])),
  proxy: field.proxy,
  ...Object.fromEntries(addressNames.map(name => [name, field.clientAddress])),
  'cloudfront-viewer-address': field.xForwarded,
  via: field.via,
  'cdn-loop': field.cdnLoop,
  'svc-ray': field.ray,
  'svc-hop': field.hop,
  ...Object.fromEntries(
    Object.values(certificateFields).map(name => [name.toLowerCase(), field.clientCertificate]),
  ),
  accept: field.accept,
  'content-type': field.contentType,
  date: field.date,
  'content-encoding': field.contentEncoding,
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
