import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { batchOf, entriesOf, LogBatchWriter } from '../../../src/store/log-batch/batch.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { gateway, logEntries, logEntry } from '../contract-specimens.ts'

const owner = gateway({ account: 'a' })
const read = (batch: Parameters<typeof entriesOf>[0]) => entriesOf(batch, 'a', 'default')

const text = fc.string({ unit: anyCharacter })
const base64 = fc.uint8Array().map(bytes => Buffer.from(bytes).toString('base64'))
const payload = fc.option(
  fc.oneof(
    fc.record({ text, isCut: fc.boolean() }),
    fc.record({ text: base64, isCut: fc.boolean(), isBase64: fc.constant(true as const) }),
  ),
)
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0)
const someEntry = fc
  .record({
    createdAt: number,
    provider: text,
    model: fc.option(text),
    path: text,
    error: fc.option(text),
    success: fc.boolean(),
    cached: fc.boolean(),
    authenticated: fc.boolean(),
    streamed: fc.boolean(),
    duration: number,
    timeToFirstByte: fc.option(number),
    tokensIn: fc.option(fc.maxSafeNat()),
    cost: fc.option(number),
    metadata: fc.option(fc.dictionary(text, fc.oneof(text, number, fc.boolean(), fc.constant(null)))),
    requestContentType: fc.option(text),
    request: payload,
    response: payload,
    providerResponse: payload,
  })
  .map(members => logEntry({ account: 'a', ...members }))

test('a batch gives back the entries that it was made of', () => {
  fc.assert(
    fc.property(fc.array(someEntry, { maxLength: 5 }), entries => {
      const batch = batchOf(entries)
      // What is generated has no prototype.
      assert.deepEqual(read(batch), structuredClone(entries))
    }),
  )
})

test('a batch has room for what comes, and knows its times', () => {
  const writer = new LogBatchWriter()
  const large = Buffer.alloc(30_000, 'é')
  const none = { request: null, response: null, providerResponse: null }
  const entries = logEntries(owner, 600, i => ({ path: '\u{1f600}'.repeat(i % 50) }))
  for (const { request: _, response: __, providerResponse: ___, ...summary } of entries)
    writer.add(summary, { ...none, response: { bytes: large, isCut: true, isBinary: false } })
  const response = { text: large.toString(), isCut: true }
  assert.deepEqual(
    read(writer.batch()),
    entries.map(entry => ({ ...entry, ...none, response })),
  )
  assert.ok(writer.size > 600 * large.length && writer.weight >= writer.size)
  assert.deepEqual(
    [writer.count, writer.earliest, writer.latest],
    [600, entries[0]!.createdAt, entries[599]!.createdAt],
  )
})
