// The first message of a TLS client, in any number of records.

import assert from 'node:assert/strict'
import { readClientHello } from '../../../src/tls/client-hello.ts'
import { sameInPieces, type Target } from '../target.ts'

/** What a connection knows once it has enough, or all that comes. */
function read(packets: readonly Buffer[]): unknown {
  let bytes: Buffer = Buffer.alloc(0)
  for (const packet of packets) {
    bytes = Buffer.concat([bytes, packet])
    const hello = readClientHello(bytes)
    if (hello === null) continue
    if (typeof hello === 'string') return hello
    const { serverName, isValidation, ticket, offer } = hello
    if (serverName !== null) assert.match(serverName, /^[!-@[-~]+$/)
    const { suites, groups, versions, isBound } = offer
    return {
      serverName,
      isValidation,
      ticket: ticket?.toString('hex'),
      suites,
      groups,
      versions,
      isBound,
    }
  }
  return null
}

/** Gives the record and the message the lengths that their bytes have, and often the list of extensions too. */
function repair(input: Buffer): Buffer {
  if (input.length < 50) return input
  const result = Buffer.from(input)
  result.set([22, 3, 1])
  result.writeUInt16BE(Math.min(result.length - 5, 0xffff), 3)
  result[5] = 1
  result.writeUIntBE(result.length - 9, 6, 3)
  let at = 43
  at += 1 + (result[at] ?? 0)
  if (at + 2 > result.length) return result
  at += 2 + result.readUInt16BE(at)
  at += 1 + (result[at] ?? 0)
  if (at + 2 <= result.length) result.writeUInt16BE(result.length - at - 2, at)
  return result
}

function extension(type: number, content: string): string {
  const { length } = content
  return String.fromCharCode(type >> 8, type & 255, length >> 8, length & 255) + content
}

const name = extension(0, '\0\x0c\0\0\x09a.example')
const validation = extension(16, '\0\x0b\x0aacme-tls/1')
const groups = extension(10, '\0\x04\0\x1d\0\x17')
const versions = extension(43, '\x04\x03\x04\x03\x03')
const psk = extension(41, '\0\x0a\0\x04abcd\0\0\0\0\0\x21\x20aaaa')
const extensions = [
  name,
  validation,
  groups,
  versions,
  psk,
  extension(35, 'ticket'),
  extension(23, ''),
  extension(16, '\0\x03\x02h2'),
]

function hello(...parts: readonly string[]): Buffer {
  const all = parts.join('')
  const fixed = `\x03\x03${'r'.repeat(32)}\x04sess\0\x04\x13\x01\xc0\x2f\x01\0`
  return repair(Buffer.from(`\x16\x03\x01\0\0\x01\0\0\0${fixed}\0\0${all}`, 'latin1'))
}

export const target: Target = {
  seeds: [
    hello(name, groups, versions),
    hello(validation, name),
    hello(psk),
    hello(...extensions),
    'GET / HTTP/1.1\r\n',
  ],
  tokens: [
    ...extensions,
    '\x16\x03\x01',
    '\x16\x03\x01\0\x01',
    '\x16\x03\x01\0\0',
    '\x01\0\0',
    '\0\0',
    'acme-tls/1',
  ],
  maxLength: 2048,
  covers: ['src/tls/client-hello.ts'],
  repair,
  attempt: input => sameInPieces(input, read),
}
