// The PROXY protocol of HAProxy, versions 1 and 2, in which a load balancer names the client
// (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, section 2).

import { isIPv4, isIPv6 } from 'node:net'
import { canonicalAddress } from '../../net/address/address.ts'
import { crc32c } from './crc32c.ts'

/** `missing`: the connection begins with something else. */
type ProxyHeaderFault = 'missing' | 'malformed'

interface ProxyHeader {
  readonly length: number
  /** `local` if the balancer speaks for itself, null if it does not know the address. */
  readonly client: string | 'local' | null
}

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const prefix = Buffer.from('PROXY ', 'latin1')
const maxLine = 107
const fixedLength = 16
const commands = ['local', 'proxy'] as const
/** Bytes by family and protocol; datagrams cannot arrive over TCP. */
const addressLengths: Readonly<Record<number, number>> = { 0: 0, 17: 12, 33: 36, 49: 216 }

/** One for its type, and two for its length. */
const tlvFixedLength = 3
/** Of the whole header (section 2.2.3). */
const checksumType = 0x03

/** Null if the header is incomplete. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | ProxyHeaderFault | null {
  if (beginsWith(bytes, prefix)) return readLine(bytes)
  if (beginsWith(bytes, signature)) return bytes.length < fixedLength ? null : readBinary(bytes)
  return 'missing'
}

function beginsWith(bytes: Buffer, beginning: Buffer): boolean {
  const length = Math.min(bytes.length, beginning.length)
  return bytes.compare(beginning, 0, length, 0, length) === 0
}

function readLine(bytes: Buffer): ProxyHeader | ProxyHeaderFault | null {
  const end = bytes.subarray(0, maxLine).indexOf(0x0a)
  if (end === -1) return bytes.length < maxLine ? null : 'malformed'
  if (bytes[end - 1] !== 0x0d) return 'malformed'
  const [, family, ...rest] = bytes.toString('latin1', 0, end - 1).split(' ')
  const client = family === 'UNKNOWN' ? null : parseClient(family!, rest)
  return client === undefined ? 'malformed' : { length: end + 1, client }
}

/** Undefined if any part is malformed. */
function parseClient(family: string, parts: readonly string[]): string | null | undefined {
  const isOfFamily = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isPlainIPv6 : () => false
  const [source = '', destination = '', ...ports] = parts
  const isValid = isOfFamily(source) && isOfFamily(destination) && ports.length === 2 && ports.every(isPort)
  return isValid ? canonicalAddress(source) : undefined
}

function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 0xffff
}

function readBinary(bytes: Buffer): ProxyHeader | ProxyHeaderFault | null {
  const version = bytes[12]! >> 4
  const command = commands[bytes[12]! & 0x0f]
  const family = bytes[13]!
  const size = bytes.readUInt16BE(14)
  const addressLength = command === 'local' ? 0 : addressLengths[family]
  if (version !== 2 || command === undefined || addressLength === undefined) return 'malformed'
  const length = fixedLength + size
  if (bytes.length < length) return null
  if (command === 'local') return { length, client: 'local' }
  // If the family is unspecified, the start of the TLVs is unknown.
  if (addressLength > 0 && !hasValidTlvs(bytes.subarray(0, length), fixedLength + addressLength))
    return 'malformed'
  const addresses = bytes.subarray(fixedLength, length)
  if (family === 0x11) return { length, client: addresses.subarray(0, 4).join('.') }
  return { length, client: family === 0x21 ? textOf(addresses.subarray(0, 16)) : null }
}

/** Whether the TLVs end where the header does, with the right checksum if any (section 2.2). */
function hasValidTlvs(header: Buffer, at: number): boolean {
  let checksumAt = -1
  while (header.length - at >= tlvFixedLength) {
    const length = header.readUInt16BE(at + 1)
    const valueAt = at + tlvFixedLength
    if (header[at] === checksumType) {
      // Of two checksums, neither could be trusted.
      if (length !== 4 || checksumAt !== -1) return false
      checksumAt = valueAt
    }
    at = valueAt + length
  }
  return at === header.length && (checksumAt === -1 || hasChecksum(header, checksumAt))
}

/** With the checksum's own bytes as zeros. */
function hasChecksum(header: Buffer, at: number): boolean {
  return header.readUInt32BE(at) === crc32c(header, at, at + 4)
}

function textOf(address: Buffer): string | null {
  const groups = Array.from({ length: 8 }, (_, i) => address.readUInt16BE(2 * i).toString(16))
  return canonicalAddress(groups.join(':'))
}
