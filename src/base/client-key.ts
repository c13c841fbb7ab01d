// What a client is known by where clients are counted or banned. Asked by the meters and the access rules once a request.
import { AddressWords } from './address-words.ts'

/** Gives an IPv4 address as it is, and of an IPv6 address the first 64 bits (RFC 5952), since whoever has one address has the others too; anything else as it is. */
export function clientKey(address: string): string {
  if (address === lastAddress) return lastKey
  lastKey = keyOf(address)
  lastAddress = address
  return lastKey
}

/** What was asked last, which mostly is asked next too. */
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

/** Writes four groups without the zeros at their end, which are part of the gap that follows. */
function network(high: number, low: number): string {
  const groups = [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff]
  while (groups.at(-1) === 0) groups.pop()
  return groups.map(group => group.toString(16)).join(':')
}
