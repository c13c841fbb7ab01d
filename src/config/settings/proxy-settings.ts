// The proxy through which calls leave a network, and the hosts that are reached without it.

import type { ProxyConfig, ProxyException } from '../model/pool-config.ts'
import { canonicalAddress, parseNetwork } from '../../net/address/address.ts'
import { originUrl } from '../shape/host-rules.ts'
import { accept, certificates } from '../shape/rules.ts'
import {
  mapping,
  optional,
  required,
  type Rule,
  scalar,
  shorthand,
  type Value,
  wordOr,
} from '../shape/shape.ts'

/** Accepts a proxy as in HTTPS_PROXY. No message shows it: it may contain a password. */
const proxyUrl: Rule<Omit<ProxyConfig, 'ca'>> = text => {
  const [, scheme = 'http', credentials, host = ''] =
    /^(?:(https?):\/\/)?(?:([^@/?#\\]*)@)?([^@/?#\\]+)\/?$/i.exec(text) ?? []
  const origin = originUrl(`${scheme}://${host}`)
  const authorization = credentials === undefined ? null : basicOf(credentials)
  if ('flaw' in origin || authorization === undefined)
    return { flaw: 'must be an http or https URL, such as http://USER:PASSWORD@proxy.example:3128' }
  const { protocol, host: name, port } = origin.value
  return { value: { protocol, host: name, port, authorization } }
}

/** Returns the value of `Basic` (RFC 7617 section 2); undefined if badly URL-encoded. */
function basicOf(credentials: string): string | undefined {
  try {
    const [user, ...password] = credentials.split(':').map(decodeURIComponent)
    return `Basic ${Buffer.from([user, password.join(':')].join(':')).toString('base64')}`
  } catch {
    return undefined
  }
}

// Unprinted, since a URL with a password may be written in place of the mapping.
const full = shorthand(
  'url',
  mapping(
    {
      url: required(scalar(proxyUrl, { unprinted: true })),
      ca: optional(scalar(certificates, { unprinted: true }), null),
    },
    { unprinted: true },
  ),
)

/** Reads a proxy; null for `off`. */
export const proxy = wordOr('off', full)

/** Returns a proxy from its settings; null for none, or after a mistake in its URL. */
export function resolveProxy(settings: Value<typeof proxy>): ProxyConfig | null {
  return settings?.url ? { ...settings.url, ca: settings.ca } : null
}

/** Accepts NO_PROXY: hosts with subdomains, .HOST for these alone, addresses, networks, or *. */
export const exceptions: Rule<readonly ProxyException[]> = text => {
  const hosts = text
    .split(/[\s,]+/)
    .filter(part => part !== '')
    .map(exceptionOf)
  return accept(
    hosts.includes(null) ? undefined : (hosts as ProxyException[]),
    'must list host names, addresses and networks, separated by commas',
  )
}

function exceptionOf(text: string): ProxyException | null {
  if (text === '*' || parseNetwork(text) !== null) return { host: text, port: null }
  const [, written = '', digits] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  const name = written.replace(/^\*(?=\.)/, '').toLowerCase()
  const host = canonicalAddress(name.replace(/^\[|\]$/g, '')) ?? name
  const isHost = /^\.?[\da-z_-]+(?:\.[\da-z_-]+)*$/.test(host) || canonicalAddress(host) !== null
  return isHost ? { host, port: digits === undefined ? null : Number(digits) } : null
}
