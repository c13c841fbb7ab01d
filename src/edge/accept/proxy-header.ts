// Reads the header by which a load balancer says for whom it has opened a connection: the PROXY protocol of HAProxy, versions 1 and 2
// (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, section 2).

import { isIPv4, isIPv6 } from 'node:net'
import { canonicalAddress } from '../../base/address/address.ts'

/** `missing`: the connection begins with something else. */
type ProxyHeaderFault = 'missing' | 'malformed'

interface ProxyHeader {
  /** How many bytes it has. */
  readonly length: number
  /** The address of the client; `local` where the balancer speaks for itself, such as for a check, and null where it knows of no address. */
  readonly client: string | 'local' | null
}

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const word = Buffer.from('PROXY ', 'latin1')
/** The most bytes of a header of version 1, with its line end. */
const longestLine = 107
/** Bytes of a header of version 2 before its addresses. */
const fixedLength = 16
const commands = ['local', 'proxy'] as const
/** Bytes of addresses and ports by family and protocol; datagrams are none that could come over TCP. */
const addressLengths: Readonly<Record<number, number>> = { 0: 0, 17: 12, 33: 36, 49: 216 }

/** Reads the header that `bytes` begin with; null where more has to come. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | ProxyHeaderFault | null {
  if (beginsWith(bytes, word)) return bytes.length < word.length ? null : readLine(bytes)
  if (beginsWith(bytes, signature)) return bytes.length < fixedLength ? null : readBinary(bytes)
  return 'missing'
}

/** Whether bytes and beginning agree as far as both go. */
function beginsWith(bytes: Buffer, beginning: Buffer): boolean {
  const length = Math.min(bytes.length, beginning.length)
  return bytes.compare(beginning, 0, length, 0, length) === 0
}

/** Reads version 1. */
function readLine(bytes: Buffer): ProxyHeader | ProxyHeaderFault | null {
  const end = bytes.subarray(0, longestLine).indexOf(0x0a)
  if (end === -1) return bytes.length < longestLine ? null : 'malformed'
  if (bytes[end - 1] !== 0x0d) return 'malformed'
  const [, family, ...rest] = bytes.toString('latin1', 0, end - 1).split(' ')
  const client = family === 'UNKNOWN' ? null : clientIn(family!, rest)
  return client === undefined ? 'malformed' : { length: end + 1, client }
}

/** Returns the client of a line; undefined where one of its parts is not as it must be. */
function clientIn(family: string, parts: readonly string[]): string | null | undefined {
  const isOfFamily = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isPlainIPv6 : () => false
  const [source = '', destination = '', ...ports] = parts
  const isGood = isOfFamily(source) && isOfFamily(destination) && ports.length === 2 && ports.every(isPort)
  return isGood ? canonicalAddress(source) : undefined
}

function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 0xffff
}

/** Reads version 2; what stands behind the addresses is not needed. */
function readBinary(bytes: Buffer): ProxyHeader | ProxyHeaderFault | null {
  const version = bytes[12]! >> 4
  const command = commands[bytes[12]! & 0x0f]
  const family = bytes[13]!
  const size = bytes.readUInt16BE(14)
  const needed = command === 'local' ? 0 : addressLengths[family]
  if (version !== 2 || command === undefined || needed === undefined || size < needed) return 'malformed'
  const length = fixedLength + size
  if (bytes.length < length) return null
  if (command === 'local') return { length, client: 'local' }
  const addresses = bytes.subarray(fixedLength, length)
  if (family === 0x11) return { length, client: addresses.subarray(0, 4).join('.') }
  return { length, client: family === 0x21 ? textOf(addresses.subarray(0, 16)) : null }
}

function textOf(address: Buffer): string | null {
  const groups = Array.from({ length: 8 }, (_, i) => address.readUInt16BE(2 * i).toString(16))
  return canonicalAddress(groups.join(':'))
}
