// IP addresses: their canonical spelling, sets of them, and the client behind trusted proxies.

import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import { AddressTable } from './address-table.ts'
import { AddressWords } from './address-words.ts'
import { withoutOws } from '../../base/text/ows.ts'

interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/**
 * The trustworthy hops of a connection, from the peer to the client. A trusted hop is believed about the one
 * before it: the next member of X-Forwarded-For from the right. Ends at an invalid member, and after 100.
 */
export function believedHops(peer: string, forwardedFor: string | null, trusted: AddressSet): string[] {
  let client = canonicalAddress(peer) ?? peer
  const hops = [client]
  let end = forwardedFor?.length ?? 0
  for (let members = 0; forwardedFor && end > 0 && members < maxMembers && trusted.has(client); members++) {
    const start = forwardedFor.lastIndexOf(',', end - 1) + 1
    const member = withoutOws(forwardedFor.slice(start, end))
    end = start - 1
    if (member === '') continue // RFC 9110 section 5.6.1.2
    const hop = hopAddress(member)
    if (hop === null) break
    hops.push((client = hop))
  }
  return hops
}

const maxMembers = 100

/** Finds an IPv4 address under its IPv6-mapped spelling too. */
export class AddressSet {
  readonly #table: AddressTable
  readonly #words = new AddressWords()

  /** Throws for members that `parseNetwork` does not accept. */
  constructor(members: Iterable<string>) {
    this.#table = AddressTable.of(members)
  }

  has(address: string): boolean {
    const canonical = canonicalAddress(address)
    return canonical !== null && this.#words.read(canonical) && this.#table.find(this.#words) !== 'nothing'
  }
}

/** `ADDRESS` or `ADDRESS/PREFIX`; an IPv6-mapped network becomes the IPv4 network. */
export function parseNetwork(text: string): Network | null {
  const [written = '', length, ...rest] = text.split('/')
  const address = canonicalAddress(written)
  if (address === null || written.includes('%') || rest.length > 0) return null
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  const bits = family === 'ipv4' ? 32 : 128
  if (length === undefined) return { address, prefix: bits, family }
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length)) return null
  const isMapped = family === 'ipv4' && !isIPv4(written)
  const prefix = Number(length) - (isMapped ? 96 : 0)
  return prefix >= 0 && prefix <= bits ? { address, prefix, family } : null
}

/** Returns compressed lower-case IPv6 without zone id, or IPv4; null if it is no address. */
export function canonicalAddress(text: string): string | null {
  if (isIPv4(text)) return text
  if (!isIPv6(text)) return null
  const [address = ''] = text.split('%')
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address
  return canonical.startsWith('::ffff:') && canonical.includes('.') ? canonical.slice(7) : canonical
}

const decorated = /^(?:\[(?<v6>[^\]]*)\]|(?<v4>[\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/

/** With or without port (RFC 7239 section 6.3), brackets and zone id. */
function hopAddress(member: string): string | null {
  const { v6, v4 } = decorated.exec(member)?.groups ?? {}
  if (v6 !== undefined) return isIPv6(v6) ? canonicalAddress(v6) : null
  return canonicalAddress(v4 ?? member)
}
