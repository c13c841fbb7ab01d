// The rules for the URIs of a client, as words that follow the member's name. URL parsers repair what they
// read, each differently, so a URI must already have the form that our parser writes, without needless
// escapes.

import { canonicalAddress } from '../../net/address/address.ts'
import type { TokenEndpointAuthMethod } from '../../store/records/oauth-client.ts'

/**
 * Returns the rule that a redirect URI, or one for after a logout, breaks: it must be https, http on this
 * machine, or for `none` the scheme of an app (RFC 8252 section 7).
 */
export function redirectUriFault(uri: string, method: TokenEndpointAuthMethod): string | null {
  return fault(uri, 512, [url => schemeFault(url, method), responseParameterFault])
}

/** Returns the rule that an origin breaks: it is a scheme, host and port, and nothing else. */
export function originFault(origin: string): string | null {
  return fault(origin, 512, [webFault], url => url.origin)
}

/** Returns the rule that the URI of a page or a picture breaks. */
export function pageUriFault(uri: string): string | null {
  return fault(uri, 2048, [pageFault])
}

/**
 * Whether a host, as the URL parser writes it, is the user's own device: a loopback or unspecified address,
 * or a name for one (RFC 6761 section 6.3).
 */
export function isOfDevice(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '')
  return deviceNames.test(host) || deviceAddresses.test(canonicalAddress(host.replace(/^\[|\]$/g, '')) ?? '')
}

const deviceNames = /^(?:(?:.*\.)?localhost[46]?(?:\.localdomain[46]?)?|ip6-(?:localhost|loopback))$/
const deviceAddresses = /^(?:(?:127|0)\.[\d.]+|::1?)$/

type UrlRule = (url: URL) => string | null

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** Schemes that open or run something on the user's machine; none is an app awaiting a response. */
const refusedSchemes: ReadonlySet<string> = new Set([
  'about:',
  'blob:',
  'chrome:',
  'data:',
  'file:',
  'filesystem:',
  'ftp:',
  'intent:',
  'javascript:',
  'mailto:',
  'sms:',
  'tel:',
  'vbscript:',
  'view-source:',
  'ws:',
  'wss:',
])

/** Parameters of an authorization response (RFC 6749 section 4.1.2, RFC 9207), reserved for ours. */
const responseParameters = ['code', 'state', 'iss', 'error'] as const

function fault(
  text: string,
  maxLength: number,
  rules: readonly UrlRule[],
  spell = ({ href }: URL) => href,
): string | null {
  const flaw = textFault(text, maxLength)
  if (flaw !== null) return flaw
  const url = URL.parse(text)
  if (url === null) return 'must be an absolute URI, such as https://app.example/path'
  for (const rule of [...rules, userFault, hostFault]) {
    const broken = rule(url)
    if (broken !== null) return broken
  }
  const spelling = withoutNeedlessEscapes(spell(url))
  // Only the slash of a bare host may be missing.
  if (text === spelling || `${text}/` === spelling) return null
  return fault(spelling, maxLength, rules, spell) ?? `must be written as ${spelling}`
}

function textFault(text: string, maxLength: number): string | null {
  if (!/^[!-~]+$/.test(text))
    return 'must contain only printable ASCII characters without spaces (write others as %XX, or as punycode in the host)'
  if (text.length > maxLength) return `must have at most ${maxLength} bytes`
  if (text.includes('#')) return 'must not have a fragment (#)'
  if (text.includes('*')) return 'must not contain a wildcard (*)'
  if (text.includes('\\')) return 'must not contain a backslash'
  if (/%(?![\da-f]{2})/i.test(text)) return 'must have two hexadecimal digits after every %'
  if (/%(?:[01].|7f)/i.test(text)) return 'must not contain escaped control characters, such as %00 or %0A'
  return null
}

/** Removes needless escapes (RFC 3986 section 2.3), since readers differ on whether `%41` is `A`. */
function withoutNeedlessEscapes(href: string): string {
  return href.replace(/%[\da-f]{2}/gi, triplet => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : triplet
  })
}

function schemeFault(url: URL, method: TokenEndpointAuthMethod): string | null {
  const { protocol } = url
  if (protocol === 'https:' || protocol === 'http:') return webFault(url)
  if (refusedSchemes.has(protocol)) return `must not use the scheme ${protocol}`
  if (method !== 'none')
    return 'must begin with https:// (app schemes are only for clients whose token_endpoint_auth_method is none)'
  if (!protocol.includes('.')) return 'must have a scheme with a dot in it, such as com.example.app:/callback'
  return labelFault(protocol.slice(0, -1), 'scheme')
}

function webFault({ protocol, hostname }: URL): string | null {
  if (protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname))) return null
  return 'must begin with https://, or with http:// on 127.0.0.1, [::1] or localhost'
}

function pageFault({ protocol }: URL): string | null {
  return protocol === 'https:' ? null : 'must begin with https://'
}

function responseParameterFault({ searchParams }: URL): string | null {
  const reserved = responseParameters.find(key => searchParams.has(key))
  return reserved === undefined
    ? null
    : `must not have ${reserved} in its query: the authorization response sets it`
}

function userFault({ username, password }: URL): string | null {
  return username === '' && password === '' ? null : 'must not have a user name or password'
}

/** The parser accepts characters in a host that end or separate header values. With http, it is loopback. */
function hostFault({ protocol, hostname }: URL): string | null {
  if (/^\[[0-9a-f:]+\]$/.test(hostname)) return null
  if (protocol === 'https:' && !/^[a-z0-9._-]+$/.test(hostname))
    return 'must have a host of letters, digits, hyphens, underscores and dots only'
  return labelFault(hostname, 'host')
}

/** Returns the rule for labels between dots that a name breaks (RFC 1035 section 2.3.4). */
function labelFault(name: string, what: 'host' | 'scheme'): string | null {
  if (/^\.|\.\.|\.$/.test(name))
    return `must have a ${what} that does not begin or end with a dot or contain two in a row`
  if (name.length > 253 || /[^.]{64}/.test(name))
    return `must have a ${what} of at most 253 characters, with at most 63 between dots`
  return null
}
