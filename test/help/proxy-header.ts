// Headers of the PROXY protocol, version 2, as load balancers send them and as nobody should.

import { isIPv4, SocketAddress } from 'node:net'

interface ProxyHeaderParts {
  readonly client?: string
  readonly version?: number
  /** 0 for LOCAL. */
  readonly command?: number
  readonly family?: number
  /** In place of those of the client. */
  readonly addresses?: Buffer
  /** What follows the addresses. */
  readonly extra?: Buffer
}

export function proxyHeader({
  client,
  version = 2,
  command = 1,
  family = client === undefined ? 0 : isIPv4(client) ? 0x11 : 0x21,
  addresses = client === undefined ? Buffer.alloc(0) : addressesOf(client),
  extra = Buffer.alloc(0),
}: ProxyHeaderParts): Buffer {
  const length = addresses.length + extra.length
  const fixed = Buffer.from([version * 16 + command, family, length >> 8, length & 255])
  return Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'), fixed, addresses, extra])
}

/** Writes a TLV. */
export function tlv(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, value.length >> 8, value.length & 255]), value])
}

/** Writes the addresses and ports of a client and of a server. */
function addressesOf(client: string): Buffer {
  const bytes = isIPv4(client) ? Buffer.from(client.split('.').map(Number)) : bytesOf(client)
  return Buffer.concat([bytes, Buffer.alloc(bytes.length, 1), Buffer.from([0xdb, 0x5c, 0x01, 0xbb])])
}

function bytesOf(address: string): Buffer {
  const plain = new SocketAddress({ address, family: 'ipv6' }).address.replace(
    /(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
    (_, ...[a, b, c, d]) => `${(a * 256 + Number(b)).toString(16)}:${(c * 256 + Number(d)).toString(16)}`,
  )
  const [before = '', after] = plain.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const tail = groups(after ?? '')
  const head = groups(before)
  const all = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail]
  return Buffer.from(all.flatMap(group => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]))
}
