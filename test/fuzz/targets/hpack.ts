// Header blocks of HPACK, each behind a byte with its length, on one connection.

import assert from 'node:assert/strict'
import { type HeaderField, HpackDecoder } from '../../../src/http2/hpack/decoder.ts'
import { HpackEncoder } from '../../../src/http2/hpack/encoder.ts'
import type { Target } from '../target.ts'

type Lines = readonly string[]

function decode(decoder: HpackDecoder, block: Buffer, lead = 0): Lines | null {
  const fields: string[] = []
  const sink = {
    take(field: HeaderField) {
      assert.equal(field.size, field.name.length + field.value.length + 32)
      if (field.isSound) assert.match(field.value, /^[\t -~\x80-\xff]*$/)
      fields.push(field.name, field.value)
    },
  }
  const bytes = Buffer.concat([Buffer.alloc(lead, 0xff), block, Buffer.alloc(lead, 0xff)])
  return decoder.decode(bytes, lead, lead + block.length, 2 ** 20, sink) === -1 ? null : fields
}

/** Decodes all blocks up to the first that is malformed. */
function read(input: Buffer, lead: number): readonly (Lines | null)[] {
  const decoder = new HpackDecoder()
  const blocks: (Lines | null)[] = []
  for (let at = 0; at < input.length && !blocks.includes(null); at += 1 + input[at]!)
    blocks.push(decode(decoder, input.subarray(at + 1, at + 1 + input[at]!), lead))
  return blocks
}

/** What is written of fields must be read as the same. */
function assertReadBack(fields: Lines): void {
  const pairs = Array.from(
    { length: fields.length / 2 },
    (_, i) => [fields[2 * i]!, fields[2 * i + 1]!] as const,
  )
  const good = pairs.filter(
    ([name, value]) => /^[!#$%&'*+.^`|~\w-]+$/.test(name) && /^[!-~\x80-\xff]*$/.test(value),
  )
  const lines = good.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const into = Buffer.alloc(2 * lines.length + 64)
  const encoder = new HpackEncoder()
  const end = encoder.lines(lines, into, encoder.begin(into, 0), false)
  const written = decode(new HpackDecoder(), into.subarray(0, end))
  const kept = good.filter(([name]) => !connectionFields.includes(name.toLowerCase()))
  assert.deepEqual(
    written,
    kept.flatMap(([name, value]) => [name.toLowerCase(), value]),
  )
}

const connectionFields = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']

function hex(text: string): Buffer {
  const bytes = Buffer.from(text.replaceAll(' ', ''), 'hex')
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

export const target: Target = {
  seeds: [
    hex('400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'),
    Buffer.concat([hex('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff'), hex('8286 84be 5886 a8eb 1064 9cbf')]),
    Buffer.concat([
      hex('3f e1 1f 82'),
      hex('20 4003616263 03646566'),
      hex('1008 7061 7373 776f 7264 0673 6563 7265 74'),
    ]),
  ],
  tokens: [
    '\x82',
    '\x84',
    '\xbe',
    '\xbf',
    '\x40',
    '\x10',
    '\x20',
    '\x3f\xe1\x1f',
    '\x7f\x80\x01',
    '\xff\xff\xff\xff\x0f',
    '\x81\xff',
    '\x01a',
    '\x04host',
    '\x06cookie',
    '\x00',
    '\x0f\x28',
    '\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff',
  ],
  maxLength: 1024,
  covers: ['src/http2/hpack/'],
  attempt(input) {
    const blocks = read(input, 0)
    assert.deepEqual(read(input, 3), blocks)
    for (const fields of blocks) if (fields !== null) assertReadBack(fields)
  },
}
