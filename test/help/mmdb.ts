// Writes MaxMind DB files (format 2.0): a tree over the bits of addresses, the records at its leaves, and what the file says of itself.

import { parseNetwork } from '../../src/net/address/address.ts'
import { AddressWords } from '../../src/net/address/address-words.ts'

/** What is known of a network: texts, whole numbers, and these within mappings. */
export interface GeoRecord {
  readonly [name: string]: string | number | GeoRecord
}

/** Gives the bytes of a database; of networks within each other the inner one must come later. */
export function mmdb(records: Readonly<Record<string, GeoRecord>>, type = 'Test-Country'): Buffer {
  const tree = new Tree()
  const data: Buffer[] = []
  let size = 0
  for (const [network, record] of Object.entries(records)) {
    const bytes = encode(record)
    tree.add(network, size)
    data.push(bytes)
    size += bytes.length
  }
  return Buffer.concat([
    tree.bytes(),
    Buffer.alloc(SEPARATOR),
    ...data,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    encode({
      node_count: tree.nodes.length,
      record_size: 32,
      ip_version: 6,
      database_type: type,
      binary_format_major_version: 2,
      binary_format_minor_version: 0,
      build_epoch: 1_700_000_000,
    }),
  ])
}

/** Bytes between the tree and the data. */
const SEPARATOR = 16

/** A node number, an offset in the data, or nothing. */
type Branch = { readonly node: number } | { readonly data: number } | null

class Tree {
  readonly nodes: [Branch, Branch][] = [[null, null]]

  add(network: string, data: number): void {
    const { bits, prefix } = bitsOf(network)
    let node = this.nodes[0]!
    for (let i = 0; i < prefix - 1; i++) node = this.#descend(node, bits[i]!)
    node[bits[prefix - 1]!] = { data }
  }

  bytes(): Buffer {
    const bytes = Buffer.alloc(8 * this.nodes.length)
    for (const [i, branch] of this.nodes.flat().entries()) bytes.writeUInt32BE(this.#pointer(branch), 4 * i)
    return bytes
  }

  /** Steps down, and splits a leaf in the way into two of its kind. */
  #descend(node: [Branch, Branch], bit: 0 | 1): [Branch, Branch] {
    const branch = node[bit]
    if (branch !== null && 'node' in branch) return this.nodes[branch.node]!
    node[bit] = { node: this.nodes.length }
    const below: [Branch, Branch] = [branch, branch]
    this.nodes.push(below)
    return below
  }

  #pointer(branch: Branch): number {
    if (branch === null) return this.nodes.length
    return 'node' in branch ? branch.node : this.nodes.length + SEPARATOR + branch.data
  }
}

/** IPv4 stands in the tree of IPv6 under 96 bits of 0. */
function bitsOf(network: string): { bits: (0 | 1)[]; prefix: number } {
  const { address, prefix, family } = parseNetwork(network)!
  const read = new AddressWords()
  read.read(address)
  const words = family === 'ipv4' ? [0, 0, 0, read.words[0]!] : [...read.words]
  const bits = words.flatMap(word => Array.from({ length: 32 }, (_, i) => ((word >>> (31 - i)) & 1) as 0 | 1))
  return { bits, prefix: family === 'ipv4' ? prefix + 96 : prefix }
}

const TEXT = 2
const UINT32 = 6
const MAP = 7

function encode(value: string | number | GeoRecord): Buffer {
  if (typeof value === 'number') return Buffer.from([(UINT32 << 5) | 4, ...uint32(value)])
  if (typeof value === 'string')
    return Buffer.concat([control(TEXT, value.length), Buffer.from(value, 'latin1')])
  const members = Object.entries(value)
  return Buffer.concat([control(MAP, members.length), ...members.flat().map(encode)])
}

function control(type: number, size: number): Buffer {
  return size < 29 ? Buffer.from([(type << 5) | size]) : Buffer.from([(type << 5) | 29, size - 29])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
