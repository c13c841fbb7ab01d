// Headers of the PROXY protocol, versions 1 and 2.

import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { crc32c } from '../../../src/edge/accept/crc32c.ts'
import { readProxyHeader } from '../../../src/edge/accept/proxy-header.ts'
import { canonicalAddress } from '../../../src/net/address/address.ts'
import { proxyHeader, tlv } from '../../help/proxy-header.ts'
import { sameInPieces, type Target } from '../target.ts'

function read(packets: readonly Buffer[]): unknown {
  let bytes: Buffer = Buffer.alloc(0)
  for (const packet of packets) {
    bytes = Buffer.concat([bytes, packet])
    const header = readProxyHeader(bytes)
    if (header === null) continue
    if (typeof header === 'string') return header
    const { client, length } = header
    assert.ok(length <= bytes.length)
    if (client !== null && client !== 'local')
      assert.ok(isIP(client) > 0 && canonicalAddress(client) === client)
    return { client, length }
  }
  return null
}

/** Gives version 2 its signature, its length and, where it has one at its end, its checksum. */
function repair(input: Buffer): Buffer {
  if (input.length < 16 || input[0] === 0x50) return input
  const result = Buffer.from(input)
  result.write('\r\n\r\n\0\r\nQUIT\n', 'latin1')
  result[12] = 0x20 | (result[12]! & 1)
  result.writeUInt16BE(Math.min(result.length - 16, 0xffff), 14)
  const at = result.length - 4
  if (at >= 19 && result[at - 3] === 3) result.writeUInt32BE(crc32c(result, at, at + 4), at)
  return result
}

const checksum = tlv(3, Buffer.alloc(4))

export const target: Target = {
  seeds: [
    'PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\nGET',
    'PROXY TCP6 2001:db8::7 ::ffff:1.2.3.4 1 2\r\n',
    'PROXY UNKNOWN x\r\n',
    repair(proxyHeader({ client: '203.0.113.7', extra: Buffer.concat([tlv(4, Buffer.alloc(2)), checksum]) })),
    proxyHeader({ client: '2001:db8::7', extra: tlv(2, Buffer.from('a')) }),
    proxyHeader({ command: 0 }),
    proxyHeader({ family: 0x31, addresses: Buffer.alloc(216) }),
  ],
  tokens: [
    'PROXY ',
    'TCP4 ',
    'TCP6 ',
    'UNKNOWN',
    '\r\n',
    ' ',
    '1.2.3.4',
    '::1',
    '65535',
    '65536',
    '%eth0',
    '\r\n\r\n\0\r\nQUIT\n',
    '!\x11\0\x0c',
    '!\x21\0\x24',
    '!\x31\0\xd8',
    ' \0\0\0',
    checksum.toString('latin1'),
    '\x04\0\0',
  ],
  maxLength: 600,
  covers: ['src/edge/accept/', 'src/net/address/address.ts'],
  repair,
  attempt: input => sameInPieces(input, read),
}
