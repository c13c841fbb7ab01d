import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Part, partsOf } from '../../src/tls/der.ts'
import { thorough } from '../help/thorough.ts'

/** Writes values in a row, each length in as few bytes as it takes. */
function der(parts: readonly Part[]): Buffer {
  return Buffer.concat(parts.flatMap(({ tag, content }) => [Buffer.from([tag]), lengthOf(content), content]))
}

function lengthOf({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = Math.ceil(Math.log2(length + 1) / 8)
  const written = Buffer.alloc(1 + bytes, 0x80 + bytes)
  written.writeUIntBE(length, 1, bytes)
  return written
}

const content = fc
  .oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.integer({ min: 100, max: 70_000 }).map(n => new Uint8Array(n)),
  )
  .map(bytes => Buffer.from(bytes))
const part = fc.tuple(fc.integer({ min: 0, max: 255 }), content).map(([tag, content]) => ({ tag, content }))

test('written frames are split as they were composed', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), parts => assert.deepEqual(partsOf(der(parts)), parts)),
    { numRuns: 200 },
  )
})

test('whatever the bytes are, parts stand in a row within them, and one that is cut off is none', () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 3 }),
      fc.uint8Array({ maxLength: 40 }),
      fc.nat(),
      (parts, noise, at) => {
        const whole = Buffer.concat([der(parts), noise])
        const cut = whole.subarray(0, at % (whole.length + 1))
        const found = partsOf(cut)
        let end = cut.byteOffset
        for (const { content } of found) {
          assert.ok(content.byteOffset >= end + 2, 'each begins behind its tag and length')
          end = content.byteOffset + content.length
        }
        assert.ok(end <= cut.byteOffset + cut.length)
        for (const [i, { tag, content }] of parts.entries())
          if (i < found.length) assert.deepEqual(found[i], { tag, content })
      },
    ),
    { numRuns: thorough(500, 150) },
  )
})

test('a length may have four bytes', () => {
  const [large] = partsOf(der([{ tag: 4, content: Buffer.alloc(2 ** 24) }]))
  assert.equal(large?.content.length, 2 ** 24)
})

test('a length that DER has not ends it', () => {
  const [good] = partsOf(Buffer.from('0500', 'hex'))
  assert.deepEqual(good, { tag: 5, content: Buffer.alloc(0) })
  for (const bad of [`3080${'00'.repeat(200)}`, '308005000000', '30850000000001aa', '30ff', '3081', '30', ''])
    assert.deepEqual(partsOf(Buffer.from(bad, 'hex')), [], bad)
})
