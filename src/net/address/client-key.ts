// The key by which clients are counted or banned.

import { AddressWords } from './address-words.ts'

/** Returns an IPv4 address, or the first 64 bits of an IPv6 address, all of which a client has. */
export function clientKey(address: string): string {
  if (address === lastAddress) return lastKey
  lastKey = keyOf(address)
  lastAddress = address
  return lastKey
}

/** Returns the IPv4 address, or 48 bits of IPv6, the usual size of a site. */
export function networkKey(address: string): string {
  if (!address.includes(':')) return address
  const text = address.endsWith('/64') ? address.slice(0, -3) : address
  if (!parsed.read(text)) return address
  const [high, low] = parsed.words
  return parsed.isV4 ? dotted(high!) : `${network(high!, low! & 0xffff0000)}::/48`
}

let lastAddress = ''
let lastKey = ''

const parsed = new AddressWords()

function keyOf(address: string): string {
  if (!address.includes(':') || !parsed.read(address)) return address
  const { isV4, words } = parsed
  return isV4 ? dotted(words[0]!) : `${network(words[0]!, words[1]!)}::/64`
}

function dotted(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`
}

/** Zeros at the end become part of the gap that follows. */
function network(high: number, low: number): string {
  if (low === 0) return (high & 0xffff) === 0 ? group(high >>> 16) : pair(high)
  return `${pair(high)}:${(low & 0xffff) === 0 ? group(low >>> 16) : pair(low)}`
}

function pair(word: number): string {
  return `${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`
}

function group(value: number): string {
  return value === 0 ? '' : value.toString(16)
}
