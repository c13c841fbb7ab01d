// The host of a client_uri, and whether its ownership can be proven at all.

import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import type { parse } from 'tldts'

/** Returns the host of a valid https URI: in lower case, as punycode, without a trailing dot. */
export function hostOf(uri: string): string {
  return new URL(uri).hostname.replace(/\.$/, '')
}

/** Returns why a TXT record cannot prove ownership of the host, as a phrase after a field's name, or null. */
export function hostFault(host: string): string | null {
  if (isAddress(host)) return 'must have a host name, not an IP address: only names have TXT records'
  if (!hostName.test(host))
    return 'must have a host name of at most 253 characters, with at most 63 between dots'
  if (!host.includes('.')) return 'must have a full host name, such as app.example.com'
  const { domain, publicSuffix, isPrivate, isSpecialUse } = parsed(host)
  if (isSpecialUse && !documentNames.test(host))
    return 'must have a host name in public DNS, not a special-use name such as .local'
  if (isPrivate && !isRegistry(publicSuffix!))
    return `must have a host in a domain of your own: only the provider can publish TXT records under ${publicSuffix}`
  if (domain === null) return `must have a host in a domain of your own: ${publicSuffix} is a public suffix`
  return null
}

/**
 * Returns the hosts of public DNS that a text names, such as `example.com` or `shop.github.io`, in lower case
 * and as punycode, without lookalikes such as `Node.js`.
 */
export function hostsNamedIn(text: string): readonly string[] {
  const words = text.normalize('NFKC').match(/[\p{L}\p{M}\p{N}-]+(?:[.\u3002][\p{L}\p{M}\p{N}-]+)+/gu) ?? []
  const hosts = words.flatMap(word => URL.parse(`https://${word}`)?.hostname ?? [])
  return hosts.filter(host => {
    const { domain, isIcann, isPrivate } = parsed(host)
    return domain !== null && (isIcann === true || isPrivate === true)
  })
}

function parsed(host: string) {
  // Loaded on first use: the list takes 7 MiB, and few processes need it.
  tldts ??= createRequire(import.meta.url)('tldts') as { parse: typeof parse }
  return tldts.parse(host, suffixRules)
}

let tldts: { readonly parse: typeof parse } | null = null

/** Matches IP addresses, also in brackets, and names that end in a number: URL parsers read them alike. */
function isAddress(host: string): boolean {
  return isIP(host) !== 0 || host.startsWith('[') || /(?:^|\.)(?:\d+|0x[\da-f]*)$/i.test(host)
}

const label = '[a-z\\d_](?:[a-z\\d_-]{0,61}[a-z\\d_])?'
const hostName = new RegExp(`^(?=.{1,253}$)(?:${label}\\.)*${label}$`)

const suffixRules = { allowPrivateDomains: true, detectSpecialUse: true, extractHostname: false }

/** Special-use names that a private resolver may still serve, for testing (RFC 6761 sections 6.2 and 6.5). */
const documentNames = /(?:^|\.)(?:test|example|example\.(?:com|net|org))$/

/**
 * Private suffixes that are registries: the owner of a name there also controls its DNS zone. All others are
 * platforms, which assign host names without a zone. eu.org has such names in many countries.
 */
const registries = new Set(
  `ae.org africa.com biz.ua br.com cn.com co.com co.nl co.no co.ua com.de com.ru com.se de.com eu.com eu.org gb.net gr.com
  hu.net in.net jp.net jpn.com mex.com net.ru org.ru pp.ru pp.ua ru.com sa.com se.net uk.com uk.net us.com us.org
  za.com za.net`.split(/\s+/),
)

function isRegistry(suffix: string): boolean {
  return registries.has(suffix) || suffix.endsWith('.eu.org')
}
