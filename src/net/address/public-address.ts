// Whether an address is on the public Internet.

import { isIPv4 } from 'node:net'
import { AddressSet, canonicalAddress } from './address.ts'

/** By IANA's special-purpose registries (RFC 6890), and multicast. */
const specialV4 = new AddressSet([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // shared by carriers, RFC 6598
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24', // documentation, as two below
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks, RFC 2544
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])

const globalV6 = new AddressSet(['2000::/3'])
const specialV6 = new AddressSet([
  '2001::/23', // includes Teredo, which contains an IPv4 address
  '2001:db8::/32',
  '2002::/16', // 6to4, likewise
  '3fff::/20',
])

/** An IPv4 address in IPv6 notation counts as IPv4. */
export function isPublic(address: string): boolean {
  const canonical = canonicalAddress(address)
  if (canonical === null) return false
  if (isIPv4(canonical)) return !specialV4.has(canonical)
  return globalV6.has(canonical) && !specialV6.has(canonical)
}

/** Returns whether an address is public, or in one of these networks. */
export function publicOrIn(networks: readonly string[]): (address: string) => boolean {
  const allowed = new AddressSet(networks)
  return address => isPublic(address) || allowed.has(address)
}
