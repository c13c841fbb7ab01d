// Header blocks as they are written: what a decoder reads of them, and how their first bytes are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeRequestFields } from '../../../src/http2/frames/request-block.ts'
import { type HeaderField, HpackDecoder } from '../../../src/http2/hpack/decoder.ts'
import { HpackEncoder } from '../../../src/http2/hpack/encoder.ts'
import { staticFields } from '../../../src/http2/hpack/static-table.ts'

interface Block {
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly neverIndexed: boolean
}

function read(bytes: Buffer): Block {
  const decoder = new HpackDecoder()
  const fields: [string, string][] = []
  const sink = { take: ({ name, value }: HeaderField) => void fields.push([name, value]) }
  assert.notEqual(decoder.decode(bytes, 0, bytes.length, Number.POSITIVE_INFINITY, sink), -1)
  return { fields, neverIndexed: decoder.hasNeverIndexed }
}

function written(lines: string, secret = false): Buffer {
  const bytes = Buffer.alloc(2 * lines.length + 16)
  return bytes.subarray(0, new HpackEncoder().lines(lines, bytes, 0, secret))
}

/** At the borders of what one, two and three bytes of a length hold (RFC 7541 section 5.1). */
const sizes = [0, 1, 126, 127, 128, 254, 255, 256, 16_510, 16_511, 16_512]

const response = [
  'content-type',
  'x-a',
  'etag',
  'age',
  'accept-ranges',
  'vary',
  'www-authenticate',
  'set-cookie',
]
const name = fc.oneof(fc.constantFrom(...response), fc.stringMatching(/^x-[a-z0-9]{1,40}$/))

test('lines are read back with their names in lower case, however long they are', () => {
  const value = fc.oneof(fc.constantFrom(...sizes), fc.nat(300)).map(length => 'v'.repeat(length))
  const line = fc.tuple(name, fc.boolean(), value)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), lines => {
      const text = lines.map(
        ([name, isUpper, value]) => `${isUpper ? name.toUpperCase() : name}: ${value}\r\n`,
      )
      assert.deepEqual(
        read(written(text.join(''))).fields,
        lines.map(([name, , value]) => [name, value]),
      )
    }),
  )
})

for (const size of sizes)
  test(`a name and a value of ${size} bytes are read back`, () => {
    const name = `x${'n'.repeat(size)}`
    const value = 'v'.repeat(size)
    assert.deepEqual(read(written(`${name}: ${value}\r\na: b\r\n`)).fields, [
      [name, value],
      ['a', 'b'],
    ])
  })

test('letters become lower case, and nothing else that a name may have', () => {
  const [others, digits, letters] = ["!#$%&'*+-.^_`|~", '0123456789', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const name = others + digits + letters
  assert.deepEqual(read(written(`${name}: A\r\n`)).fields, [[name.toLowerCase(), 'A']])
})

test('names are written by their places in the static table, from the first one on', () => {
  for (const [index, [name]] of staticFields.entries())
    if (index >= 15 && name !== 'transfer-encoding') {
      const bytes = written(`${name}: a\r\n`)
      assert.deepEqual([bytes.length, bytes[0]! & 0x0f, bytes[1]], [4, 15, index - 15], name)
    }
  assert.equal(written('Accept-Charset: a\r\n').toString('hex'), '0f000161')
  assert.equal(written('www-authenticate: a\r\n').toString('hex'), '0f2e0161')
  assert.equal(written('cookie: a\r\n').toString('hex'), '1f110161')
})

test('fields of the connection are left out, and no others', () => {
  const lines =
    'Connection: close\r\nKeep-Alive: 5\r\nX: 1\r\nProxy-Connection: x\r\nTransfer-Encoding: chunked\r\nUpgrade: h2c\r\nTe: trailers\r\n'
  assert.deepEqual(read(written(lines)).fields, [
    ['x', '1'],
    ['te', 'trailers'],
  ])
})

for (const name of [
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
])
  test(`no hop may index ${name}`, () => {
    assert.deepEqual(read(written(`${name}: a\r\n`)), { fields: [[name, 'a']], neverIndexed: true })
  })

test('no hop may index what is secret as a whole, and any may index the rest', () => {
  for (const line of ['x: a\r\n', 'etag: a\r\n', 'age: 1\r\n', 'cache-control: no-store\r\n']) {
    assert.equal(read(written(line)).neverIndexed, false, line)
    assert.equal(read(written(line, true)).neverIndexed, true, line)
  }
})

test('a status is one byte where the static table has it, and read back in any case', () => {
  const bytes = Buffer.alloc(5)
  for (let status = 100; status < 600; status++) {
    const end = new HpackEncoder().status(status, bytes, 0)
    assert.equal(end, [200, 204, 206, 304, 400, 404, 500].includes(status) ? 1 : 5)
    assert.deepEqual(read(bytes.subarray(0, end)), {
      fields: [[':status', `${status}`]],
      neverIndexed: false,
    })
  }
})

test('4.2: the next block, and no other, begins with the new size of a table', () => {
  const encoder = new HpackEncoder()
  const bytes = Buffer.alloc(1)
  const begins = () => encoder.begin(bytes, 0)
  assert.equal(begins(), 0)
  encoder.limitTable()
  assert.deepEqual([begins(), bytes[0]], [1, 0x20])
  assert.equal(begins(), 0)
})

test('the head of a request is read back, and no hop may index it', () => {
  for (const size of sizes.slice(1))
    for (const method of ['GET', 'POST', 'PATCH'])
      for (const scheme of ['http', 'https'] as const)
        for (const target of ['/', `/${'p'.repeat(size - 1)}`]) {
          const authority = 'a'.repeat(size)
          const bytes = Buffer.alloc(3 * size + 100)
          const fields = { method, scheme, authority, target, lines: 'X: y\r\n' }
          const end = writeRequestFields(new HpackEncoder(), fields, bytes, 0)
          assert.deepEqual(read(bytes.subarray(0, end)), {
            fields: [
              [':method', method],
              [':scheme', scheme],
              [':authority', authority],
              [':path', target],
              ['x', 'y'],
            ],
            neverIndexed: true,
          })
        }
})
