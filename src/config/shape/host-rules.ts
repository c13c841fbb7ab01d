// Rules for values that name hosts: listeners, zones, origins.

import { isIPv4 } from 'node:net'
import { canonicalAddress } from '../../net/address/address.ts'
import type { Endpoint, OriginConfig, RouteConfig } from '../model/config.ts'
import type { Reading } from '../../base/text/quantity.ts'
import { accept, readWhole, within } from './rules.ts'
import { formed, type Rule } from './shape.ts'
import { hintsForEndpoints, hintsForHosts, hintsForOrigins } from './value-hints.ts'

/** Prefix of a URL of http or https, in any case. */
export const httpScheme = '^[hH][tT][tT][pP][sS]?://'

/** A text without a path; IPv6 addresses may have brackets. */
const hostText = '^[^*/\\s]+$'
const issuerRule = 'must be an https URL with only a host and port, such as https://id.example'
const originRule = 'must be an http or https URL with only a host and port, such as http://127.0.0.1:9000'

/** Accepts an address to listen on; port 0 lets the system choose. */
export const endpoint: Rule<Endpoint> = formed(
  readEndpoint,
  { pattern: ':\\d+$', hints: hintsForEndpoints },
  ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`,
)

function readEndpoint(text: string): Reading<Endpoint> {
  const [, written = '', digits = ''] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(text) ?? []
  const host = readHost(written)
  const port = within(readWhole(digits), 0, 65_535)
  const address = host !== undefined && port !== undefined ? { host, port } : undefined
  return accept(address, 'must be HOST:PORT, such as 0.0.0.0:8080 or [::]:8080')
}

/** Accepts an exact name or an IP address. */
export const exactHost: Rule<string> = formed(
  text => accept(readHost(text), 'must be a host name or an IP address, without port or *'),
  { pattern: hostText },
)

/** Accepts an exact name, an IP address, or a wildcard name. */
export const hostPattern: Rule<string> = formed(readHostPattern, {
  pattern: `^(?:\\*\\.)?${hostText.slice(1)}`,
  hints: hintsForHosts,
})

function readHostPattern(text: string): Reading<string> {
  const isWildcard = text.startsWith('*.')
  const host = isWildcard ? readName(text.slice(2)) : readHost(text)
  return accept(
    host && isWildcard ? `*.${host}` : host,
    'must be a host name, *.HOST or an IP address, without port (non-ASCII names as punycode, xn--…)',
  )
}

/** Accepts *, a wildcard name, or an exact name or IP address with or without a port, as URLs have them. */
export const documentHost: Rule<string> = formed(readDocumentHost, { pattern: '^[^/\\s]+$' })

function readDocumentHost(text: string): Reading<string> {
  if (text === '*') return { value: text }
  const isWildcard = text.startsWith('*.')
  const [, written = '', digits] =
    /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(isWildcard ? text.slice(2) : text) ?? []
  const host = isWildcard ? readName(written) : readHost(written)
  const port = digits === undefined ? 443 : within(readWhole(digits), 1, 65_535)
  const isWhole = host !== undefined && port !== undefined && (!isWildcard || digits === undefined)
  const authority = isWhole && `${host.includes(':') ? `[${host}]` : host}${port === 443 ? '' : `:${port}`}`
  return accept(
    isWhole ? `${isWildcard ? '*.' : ''}${authority}` : undefined,
    'must be a host name with or without a port, *.HOST, or * for all host names',
  )
}

/** Accepts the Host that is sent to an origin. */
export const hostHeader: Rule<RouteConfig['host']> = formed(
  readHostHeader,
  { words: ['preserve', 'origin'], pattern: hostText },
  host => (typeof host === 'string' ? host : host.name),
)

function readHostHeader(text: string): Reading<RouteConfig['host']> {
  if (text === 'preserve' || text === 'origin') return { value: text }
  const name = readHost(text)
  return accept(name === undefined ? undefined : { name }, 'must be preserve, origin or a host name')
}

/** Accepts the address of a DNS server, with or without a port. */
export const resolver: Rule<string> = text => {
  const bare = canonicalAddress(text)
  const [, written = '', digits] = /^(\[[^\]]+\]|[^:[\]]+):(\d+)$/.exec(text) ?? []
  const host = canonicalAddress(written.replace(/^\[|\]$/g, ''))
  const port = within(readWhole(digits ?? ''), 1, 65_535)
  const isWhole = host !== null && port !== undefined
  const withPort = isWhole ? `${host.includes(':') ? `[${host}]` : host}:${port}` : undefined
  return accept(
    bare ?? withPort,
    'must be the IP address of a DNS server, such as 192.0.2.53 or 127.0.0.1:5353',
  )
}

/** Accepts a name for server name indication, which RFC 6066 section 3 does not allow to be an address. */
export const serverName: Rule<string> = formed(text => accept(readName(text), 'must be a host name'), {
  pattern: hostText,
})

type OriginAddress = Pick<OriginConfig, 'url' | 'protocol' | 'host' | 'port'>

/** Accepts a URL with only scheme, host and port; the rest comes from the request. */
export const originUrl: Rule<OriginAddress> = formed(readOriginUrl, {
  pattern: `${httpScheme}[^/?#]+/?$`,
  rule: originRule,
  hints: hintsForOrigins,
})

function readOriginUrl(text: string): Reading<OriginAddress> {
  const [, scheme = '', written = '', digits] =
    /^(https?):\/\/(\[[^\]]+\]|[^[\]:/]+)(?::(\d+))?\/?$/i.exec(text) ?? []
  const protocol = scheme.toLowerCase() === 'https' ? 'https' : 'http'
  const usualPort = protocol === 'https' ? 443 : 80
  const host = readHost(written)
  const port = digits === undefined ? usualPort : within(readWhole(digits), 1, 65_535)
  if (host === undefined || port === undefined) {
    return { flaw: `${wrongPart(text)}: it ${originRule}` }
  }
  const authority = `${host.includes(':') ? `[${host}]` : host}${port === usualPort ? '' : `:${port}`}`
  return { value: { url: `${protocol}://${authority}`, protocol, host, port } }
}

/** Accepts the base of documentation links, and returns it without a trailing slash. */
export const documentationUrl: Rule<string> = formed(readDocumentationUrl, { pattern: httpScheme })

function readDocumentationUrl(text: string): Reading<string> {
  const isBase = /^https?:\/\/[!-~]+$/i.test(text) && !/[?#@\\]/.test(text) && URL.canParse(text)
  return accept(
    isBase ? new URL(text).href.replace(/\/+$/, '') : undefined,
    'must be an absolute http or https URL without query or fragment',
  )
}

/** Accepts the URL of the directory of a certificate authority: https, or http on loopback. */
export const acmeDirectory: Rule<string> = formed(readDirectory, { pattern: httpScheme })

function readDirectory(text: string): Reading<string> {
  const isUrl = /^https?:\/\/[!-~]{1,2000}$/i.test(text) && !/[#@\\]/.test(text)
  const url = isUrl ? URL.parse(text) : null
  const isSafe =
    url !== null && (url.protocol === 'https:' || isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
  return accept(
    isSafe ? url.href : undefined,
    'must be an https URL, or http on loopback, such as https://acme.example/directory',
  )
}

/** Accepts our issuer: https, or http on loopback, without a path (RFC 8414 section 2). */
export const issuerUrl: Rule<string> = formed(readIssuer, { pattern: httpScheme, rule: issuerRule })

function readIssuer(text: string): Reading<string> {
  const origin = originUrl(text)
  if ('flaw' in origin) {
    return { flaw: `${wrongPart(text)}: it ${issuerRule}` }
  }
  return accept(
    isPrivateEnough(origin.value) ? origin.value.url : undefined,
    'must use https, or http on loopback',
  )
}

/** Accepts an issuer unmodified: tokens repeat it to the letter (OpenID Connect Discovery section 4.3). */
export const openidIssuer: Rule<string> = formed(readOpenidIssuer, { pattern: httpScheme })

function readOpenidIssuer(text: string): Reading<string> {
  const isUrl = /^https?:\/\/[!-~]{1,2000}$/.test(text) && !/[?#@\\]/.test(text)
  const url = isUrl ? URL.parse(text) : null
  if (url === null)
    return { flaw: 'must be an https URL without query or fragment, such as https://id.example' }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isFine = isPrivateEnough({ protocol: url.protocol === 'https:' ? 'https' : 'http', host })
  return accept(isFine ? text : undefined, 'must use https, or http on loopback')
}

/** Whether a host is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

function isPrivateEnough({ protocol, host }: Pick<OriginConfig, 'protocol' | 'host'>): boolean {
  return protocol === 'https' || isLoopback(host)
}

/** Accepts an image whose host a Content-Security-Policy can name (CSP Level 3 section 2.3.1). */
export const logoUrl: Rule<string> = formed(readLogoUrl, { pattern: httpScheme })

function readLogoUrl(text: string): Reading<string> {
  const url = /^https?:\/\/[!-~]{1,2000}$/i.test(text) ? URL.parse(text) : null
  const isGood =
    url !== null && url.username === '' && url.password === '' && /^[a-z\d.-]+$/.test(url.hostname)
  return accept(
    isGood ? url.href : undefined,
    'must be an absolute http or https URL without a user name, with a host name or an IPv4 address',
  )
}

/** Returns the first part that a URL must not have, without its value, which may be secret. */
export function wrongPart(text: string, pathFlaw = originPathFlaw): string {
  const [, scheme, authority, path, query, fragment] = urlParts.exec(text)!
  if (!scheme) return 'has no scheme'
  if (!/^https?:\/\/$/i.test(scheme)) return 'does not begin with http:// or https://'
  if (authority!.includes('@')) return 'has a user name'
  const flaw = pathFlaw(path!)
  if (flaw !== null) return flaw
  if (query) return 'has a query'
  if (fragment) return 'has a fragment'
  const host = authority!.replace(/:[^:\]]*$/, '')
  return readHost(host) === undefined ? 'has an invalid host' : 'has an invalid port'
}

function originPathFlaw(path: string): string | null {
  return path === '' || path === '/' ? null : 'has a path'
}

const urlParts = /^(\s*[a-z][a-z\d+.-]*:\/\/|https?:)?([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/is

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const name = new RegExp(`^(?=.{1,253}$)(?:${label}\\.)*${label}$`)

/** Reads a host name or an IP address; brackets around IPv6 are removed. */
function readHost(text: string): string | undefined {
  if (text.includes('%')) return undefined
  const [, v6] = /^\[([^:]*:.*)\]$/.exec(text) ?? []
  return canonicalAddress(v6 ?? text) ?? readName(text)
}

/** Reads a host name; one that ends in a number is a mistyped address, such as 127.1. */
function readName(text: string): string | undefined {
  const lower = text.toLowerCase()
  return name.test(lower) && !/(?:^|\.)(?:\d+|0x[\da-f]*)$/.test(lower) ? lower : undefined
}
