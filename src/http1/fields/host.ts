// The Host field and the authority of an absolute target (RFC 9110 section 7.2, RFC 3986 section 3.2.2).

import { isIPv6 } from 'node:net'
import { canonicalAddress } from '../../net/address/address.ts'

/**
 * Lower-case, without port, brackets and trailing dot; null if it is neither a host name nor an IP address.
 * No zone can have a name with the other freedoms of a reg-name.
 */
export function hostName(value: string): string | null {
  if (value.charCodeAt(0) === 0x5b) return ipv6Name(value)
  const colon = value.indexOf(':')
  if (colon !== -1 && !isPort(value, colon + 1)) return null
  let end = colon === -1 ? value.length : colon
  if (value.charCodeAt(end - 1) === 0x2e) end--
  if (end > 253 || !hasLabels(value, end)) return null
  const name = end === value.length ? value : value.slice(0, end)
  return name.toLowerCase()
}

function ipv6Name(value: string): string | null {
  const close = value.indexOf(']')
  if (close === -1) return null
  const rest = value.length - close - 1
  if (rest > 0 && (value.charCodeAt(close + 1) !== 0x3a || !isPort(value, close + 2))) return null
  const address = value.slice(1, close)
  return isIPv6(address) && !address.includes('%') ? canonicalAddress(address) : null
}

function isPort(value: string, from: number): boolean {
  if (value.length - from > 5) return false
  for (let i = from; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

/** 1 to 63 letters, digits, hyphens and underscores between single dots. */
function hasLabels(value: string, end: number): boolean {
  let label = 0
  for (let i = 0; i < end; i++) {
    const code = value.charCodeAt(i)
    if (code === 0x2e) {
      if (label === 0) return false
      label = 0
      continue
    }
    const letter = code | 0x20
    const isLabelCharacter =
      (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x5f
    if (!isLabelCharacter || ++label > 63) return false
  }
  return label > 0
}
