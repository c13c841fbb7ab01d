// Header blocks, by the examples of RFC 7541 appendix C, and what no decoder may take.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { field } from '../../../src/http1/fields/fields.ts'
import { type HeaderField, HpackDecoder, pseudo } from '../../../src/http2/hpack/decoder.ts'

function decode(decoder: HpackDecoder, hex: string, most = 65_536): string[] | null {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  const lines: string[] = []
  const sink = { take: ({ name, value }: HeaderField) => void lines.push(`${name}: ${value}`) }
  return decoder.decode(bytes, 0, bytes.length, most, sink) === -1 ? null : lines
}

function assertBlocks(blocks: readonly (readonly [hex: string, lines: readonly string[]])[]): void {
  const decoder = new HpackDecoder()
  for (const [hex, lines] of blocks) assert.deepEqual(decode(decoder, hex), lines)
}

test('literals and indexes as in C.2', () => {
  assertBlocks([
    ['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', ['custom-key: custom-header']],
    ['040c 2f73 616d 706c 652f 7061 7468', [':path: /sample/path']],
    ['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password: secret']],
    ['82', [':method: GET']],
  ])
})

const first = [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com']
const second = [...first, 'cache-control: no-cache']
const third = [
  ':method: GET',
  ':scheme: https',
  ':path: /index.html',
  ':authority: www.example.com',
  'custom-key: custom-value',
]

test('requests of one connection as in C.3', () => {
  assertBlocks([
    ['8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d', first],
    ['8286 84be 5808 6e6f 2d63 6163 6865', second],
    ['8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65', third],
  ])
})

test('requests in Huffman code as in C.4', () => {
  assertBlocks([
    ['8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', first],
    ['8286 84be 5886 a8eb 1064 9cbf', second],
    ['8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf', third],
  ])
})

const date = 'date: Mon, 21 Oct 2013 20:13:21 GMT'
const found = [':status: 302', 'cache-control: private', date, 'location: https://www.example.com']
const responses = [
  found,
  [':status: 307', ...found.slice(1)],
  [
    ':status: 200',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:22 GMT',
    'location: https://www.example.com',
    'content-encoding: gzip',
    'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
  ],
]
/** A table of 256 bytes, as those examples have it. */
const resize = '3fe1 01'

test('responses that evict each other as in C.5', () => {
  assertBlocks([
    [
      `${resize} 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
      responses[0]!,
    ],
    ['4803 3330 37c1 c0bf', responses[1]!],
    [
      '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
      responses[2]!,
    ],
  ])
})

test('the same in Huffman code as in C.6', () => {
  assertBlocks([
    [
      `${resize} 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
      responses[0]!,
    ],
    ['4883 640e ffc1 c0bf', responses[1]!],
    [
      '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      responses[2]!,
    ],
  ])
})

const bad: Readonly<Record<string, string>> = {
  'index 0': '80',
  'index 0 before what would be a literal': '8001 6101 62',
  'an index behind the tables': 'be',
  'a name behind the tables': '7e 0161',
  'an integer without end': 'ff ffff ffff ffff',
  'an integer that is cut off': 'ff',
  'a length without end': '0001 617f 8080 8080',
  'an index of a name without end': '0f80 8080 8001 6101 62',
  'the size of a table without end': '3f80 8080 80',
  'a string that is cut off': '400a 6375',
  'a value that is cut off': '4001 6102 62',
  'a value in Huffman code that is cut off': '4001 6183 1c64',
  'a string without its length': '40',
  'a value that is missing': '4001 61',
  'Huffman padding of eight bits': '4001 6182 1fff',
  'Huffman padding of zeros': '4001 6181 18',
  'the end of a string in Huffman code': '4001 6184 ffff fffc',
  'a table larger than allowed': '3fe2 1f',
  'a size behind a field': '8220',
}

for (const [what, hex] of Object.entries(bad))
  test(`${what} breaks the compression`, () => {
    assert.equal(decode(new HpackDecoder(), hex), null)
  })

test('a block ends where its frame does, even if more bytes are there', () => {
  for (const hex of ['3f00', '000161 0262 63', '0001 6101 62', '4101', '82ff 00']) {
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
    assert.equal(new HpackDecoder().decode(bytes, 0, bytes.length - 1, 1_000, { take() {} }), -1, hex)
  }
})

test('only literals that are to be indexed are', () => {
  for (const [first, neverIndexed] of [
    ['00', false],
    ['10', true],
    ['40', false],
  ] as const) {
    const decoder = new HpackDecoder()
    assert.deepEqual(decode(decoder, `${first}01 6101 62`), ['a: b'])
    assert.equal(decoder.hasNeverIndexed, neverIndexed)
    assert.deepEqual(decode(decoder, 'be'), first === '40' ? ['a: b'] : null)
    assert.equal(decoder.hasNeverIndexed, false)
  }
})

test('the table has what a list has from which the oldest are removed', () => {
  const change = fc.oneof(
    { weight: 9, arbitrary: fc.record({ letter: fc.integer({ min: 97, max: 122 }), length: fc.nat(120) }) },
    { weight: 1, arbitrary: fc.nat(4_096) },
  )
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200, size: 'max' }), changes => {
      const decoder = new HpackDecoder()
      let table: string[] = []
      let limit = 4_096
      for (const change of changes) {
        if (typeof change === 'number') {
          limit = change
          const rest = limit - 31
          const size = rest < 0 ? [0x20 | limit] : [0x3f, (rest & 0x7f) | 0x80, rest >> 7]
          assert.deepEqual(decode(decoder, Buffer.from(size).toString('hex')), [])
        } else {
          const value = Buffer.alloc(change.length, change.letter)
          const bytes = Buffer.concat([Buffer.from([0x40, 1, 0x78, change.length]), value])
          assert.deepEqual(decode(decoder, bytes.toString('hex')), [`x: ${value}`])
          table.unshift(`x: ${value}`)
        }
        let left = limit
        const end = table.findIndex(line => (left -= line.length - 2 + 32) < 0)
        if (end !== -1) table = table.slice(0, end)
      }
      const indexes = Buffer.from(table.flatMap((_, i) => (i < 65 ? [0x80 + 62 + i] : [0xff, i - 65])))
      assert.deepEqual(decode(decoder, indexes.toString('hex')), table)
      const next = table.length < 65 ? [0x80 + 62 + table.length] : [0xff, table.length - 65]
      assert.equal(decode(decoder, Buffer.from(next).toString('hex')), null)
    }),
    { numRuns: 30 },
  )
})

test('a field is told what it is, with its name from the table or its own', () => {
  for (const [hex, id, which, size] of [
    ['00 0e 63 6f6e 7465 6e74 2d6c 656e 6774 6801 37', field.contentLength, pseudo.none, 14 + 1 + 32],
    ['00 05 3a 7061 7468 03 2f61 62', field.other, pseudo.path, 5 + 3 + 32],
    ['0f0d 0137', field.contentLength, pseudo.none, 14 + 1 + 32],
    ['04 032f 6162', field.other, pseudo.path, 5 + 3 + 32],
  ] as const) {
    const fields: HeaderField[] = []
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
    const sink = { take: (field: HeaderField) => void fields.push(field) }
    assert.equal(new HpackDecoder().decode(bytes, 0, bytes.length, 1_000, sink), size)
    const [found] = fields
    assert.deepEqual([found!.id, found!.pseudo, found!.isSound, found!.size], [id, which, true, size])
  }
})

test('a field as large as the table empties it, and a larger one too', () => {
  const decoder = new HpackDecoder()
  assert.deepEqual(decode(decoder, '4001 6101 62'), ['a: b'])
  const value = 'c'.repeat(4096)
  const hex = `4001 61 7f811f ${Buffer.from(value).toString('hex')}`
  assert.deepEqual(decode(decoder, hex), [`a: ${value}`])
  assert.equal(decode(decoder, 'be'), null)
})

test('a table of no size forgets what it had, and takes fields again when it has one', () => {
  const decoder = new HpackDecoder()
  assert.deepEqual(decode(decoder, '4001 6101 62'), ['a: b'])
  assert.deepEqual(decode(decoder, '20 3fe1 1f 4001 6101 63 be'), ['a: c', 'a: c'])
  assert.equal(decode(decoder, 'bf'), null)
})

test('fields beyond the size of a list are not handed over, and the table keeps in step', () => {
  const decoder = new HpackDecoder()
  assert.deepEqual(decode(decoder, '4001 6101 62 4001 6101 63', 34), ['a: b'])
  assert.deepEqual(decode(decoder, 'be bf'), ['a: c', 'a: b'])
})

test('a list counts 32 bytes a field beside its text', () => {
  const bytes = Buffer.from('40016101624001616163', 'hex').subarray(0, 5)
  assert.equal(new HpackDecoder().decode(bytes, 0, bytes.length, 100, { take() {} }), 34)
})

test('a field that is as large as the table stays in it', () => {
  const decoder = new HpackDecoder()
  const value = 'c'.repeat(4096 - 32 - 1)
  const length = (value.length - 127) | 0
  const bytes = [0x40, 1, 0x61, 0x7f, (length & 0x7f) | 0x80, length >> 7, ...Buffer.from(value)]
  assert.deepEqual(decode(decoder, Buffer.from(bytes).toString('hex')), [`a: ${value}`])
  assert.deepEqual(decode(decoder, 'be'), [`a: ${value}`])
  assert.deepEqual(decode(decoder, '4001 6101 62 be'), ['a: b', 'a: b'])
  assert.equal(decode(decoder, 'bf'), null)
})

test('a table of another size holds what fits into it, to the byte', () => {
  const decoder = new HpackDecoder()
  // Two fields of 34 bytes.
  assert.deepEqual(decode(decoder, '3f25 4001 6101 62 4001 6101 63'), ['a: b', 'a: c'])
  assert.deepEqual(decode(decoder, 'be bf'), ['a: c', 'a: b'])
  assert.deepEqual(decode(decoder, '3f24 be'), ['a: c'])
  assert.equal(decode(decoder, 'bf'), null)
})

test('an integer may go on for four bytes, and no further', () => {
  const value = '76'.repeat(127)
  assert.deepEqual(decode(new HpackDecoder(), `0001 78 7f80 8080 00 ${value}`), [`x: ${'v'.repeat(127)}`])
  assert.equal(decode(new HpackDecoder(), `0001 78 7f80 8080 8000 ${value}`), null)
})

/** RFC 7541 appendix A, from index 1. */
const staticTable = `
:authority: |:method: GET|:method: POST|:path: /|:path: /index.html|:scheme: http|:scheme: https|:status: 200|:status: 204
:status: 206|:status: 304|:status: 400|:status: 404|:status: 500|accept-charset: |accept-encoding: gzip, deflate
accept-language: |accept-ranges: |accept: |access-control-allow-origin: |age: |allow: |authorization: |cache-control: 
content-disposition: |content-encoding: |content-language: |content-length: |content-location: |content-range: 
content-type: |cookie: |date: |etag: |expect: |expires: |from: |host: |if-match: |if-modified-since: |if-none-match: 
if-range: |if-unmodified-since: |last-modified: |link: |location: |max-forwards: |proxy-authenticate: 
proxy-authorization: |range: |referer: |refresh: |retry-after: |server: |set-cookie: |strict-transport-security: 
transfer-encoding: |user-agent: |vary: |via: |www-authenticate: `

test('all fields of the static table are at their places', () => {
  const bytes = Array.from({ length: 61 }, (_, i) => 0x81 + i)
  assert.deepEqual(
    decode(new HpackDecoder(), Buffer.from(bytes).toString('hex')),
    staticTable.slice(1).split(/[|\n]/),
  )
})

test('a name of the table is as sound as it was, whatever value it came with', () => {
  const soundOf = (hex: string) => {
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
    const fields: boolean[] = []
    new HpackDecoder().decode(bytes, 0, bytes.length, 1000, {
      take: ({ isSound }) => void fields.push(isSound),
    })
    return fields
  }
  assert.deepEqual(soundOf('4001 7801 20 7e01 79'), [false, true])
  assert.deepEqual(soundOf('4001 7801 79 7e01 20'), [true, false])
  assert.deepEqual(soundOf('4001 5801 79 7e01 79'), [false, false])
  assert.deepEqual(soundOf('4005 3a70 6174 6801 20 7e01 2f'), [false, true])
})

const sound: readonly (readonly [name: string, value: string, isSound: boolean])[] = [
  ['x', 'y', true],
  ['x', '', true],
  ['x', 'a b\tc\xff', true],
  ['x-1', 'y', true],
  ['X', 'y', false],
  ['A', 'y', false],
  ['Z', 'y', false],
  ['x y', 'y', false],
  ['', 'y', false],
  ['x', ' y', false],
  ['x', 'y\t', false],
  ['x', 'a\nb', false],
  ['x', 'a\rb', false],
  ['x', 'a\0b', false],
  [':path', '/', true],
]

for (const [name, value, isSound] of sound)
  test(`${JSON.stringify([name, value])} may ${isSound ? '' : 'not '}stand in a message`, () => {
    const bytes = Buffer.from(
      `\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`,
      'latin1',
    )
    const fields: HeaderField[] = []
    new HpackDecoder().decode(bytes, 0, bytes.length, 1000, { take: field => void fields.push(field) })
    assert.equal(fields[0]!.isSound, isSound)
  })

test('any bytes are read to their end, or break the compression', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), blocks => {
      const decoder = new HpackDecoder()
      for (const block of blocks) {
        let size = 0
        const sink = { take: (field: HeaderField) => void (size += field.size) }
        const total = decoder.decode(Buffer.from(block), 0, block.length, Number.POSITIVE_INFINITY, sink)
        if (total === -1) return
        assert.equal(total, size)
      }
    }),
  )
})

test('a header list beyond the limit is not read to its end', () => {
  const decoder = new HpackDecoder()
  const bytes = Buffer.from('8284ff', 'hex')
  const size = (bearable: number) =>
    decoder.decode(bytes, 0, bytes.length, 0, { take: () => assert.fail() }, bearable)
  assert.equal(size(79), 80)
  assert.equal(size(80), -1)
})
