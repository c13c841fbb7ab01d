// Measures heads of HTTP/2, in ns each: node bench/micro/http2/hpack.ts
import { HpackDecoder } from '../../../src/http2/hpack/decoder.ts'
import { HpackEncoder } from '../../../src/http2/hpack/encoder.ts'
import { RequestFields } from '../../../src/http2/server/request-fields.ts'
import { medianOf } from '../median.ts'

const calls = 200_000
const limits = { url: 16_384, headerSection: 131_072, headers: 256 }
const request: readonly (readonly [string, string])[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/shop/items/4711?page=2'],
  [':authority', 'shop.example'],
  ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36'],
  ['accept', 'text/html,application/xhtml+xml'],
  ['accept-encoding', 'gzip, deflate, br'],
  ['accept-language', 'en-US,en;q=0.9'],
  ['cookie', 'session=0123456789abcdef0123456789abcdef'],
]
const response =
  'Content-Type: text/html; charset=utf-8\r\nDate: Mon, 23 Nov 2026 02:00:00 GMT\r\nCache-Control: no-store\r\n' +
  'Content-Length: 1234\r\nETag: "0123456789abcdef"\r\nSvc-Ray: 8f0123456789abcd-FRA\r\nServer: gatehouse\r\nVary: Accept\r\n'

const fields = new RequestFields()
const decoder = new HpackDecoder()
const literal = block(0x00)
const stored = block(0x40)
decode(stored)
const indexed = Buffer.from(request.map((_, i) => 0x80 | (62 + request.length - 1 - i)))

console.log(`request, all in the table: ${medianOf(calls, () => decode(indexed)).toFixed(0)} ns`)
console.log(`request, all literals: ${medianOf(calls, () => decode(literal)).toFixed(0)} ns`)

const encoder = new HpackEncoder()
const into = Buffer.alloc(4_096)
const encode = () => encoder.lines(response, into, encoder.status(200, into, encoder.begin(into, 0)), false)
console.log(`response of eight fields: ${medianOf(calls, encode).toFixed(0)} ns, ${encode()} bytes`)

function decode(bytes: Buffer): void {
  fields.begin(limits)
  const size = decoder.decode(bytes, 0, bytes.length, limits.headerSection, fields)
  fields.settle(size, limits)
  if (fields.isMalformed || fields.fault !== null) throw new Error(fields.fault ?? 'malformed')
}

/** Writes the request as literals of one kind, without Huffman code. */
function block(kind: number): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  return Buffer.concat(request.flatMap(([name, value]) => [Buffer.from([kind]), text(name), text(value)]))
}
