import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { entriesOf, idsOf, joined, summarySlices, timesOf } from '../../../src/store/log-batch/batch.ts'
import { batchOf, bodiesOf, LogBatchWriter, partOf } from '../../../src/store/log-batch/writer.ts'
import type { LogEntry } from '../../../src/store/records/records.ts'
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
      assert.equal(JSON.stringify(read(batch)), JSON.stringify(entries))
      assert.equal(batch.count, entries.length)
    }),
  )
})

test('what is as in the entry before comes back as well as what is not', () => {
  const few = (...texts: string[]) => fc.constantFrom(...texts)
  const alike = fc
    .record({
      provider: few('openai', 'anthropic'),
      model: fc.option(few('a', 'b')),
      path: few('/chat', '/embeddings'),
      status: fc.constantFrom(200, 500),
      error: fc.option(few('bad_gateway')),
      success: fc.boolean(),
      tokenId: fc.option(few('1', '2')),
      tokenName: fc.option(few('one', 'two')),
      response: fc.option(fc.record({ text: few('{}'), isCut: fc.boolean() })),
      app: fc.option(
        fc.record(
          {
            user: few('u', 'v'),
            email: few('u@x.example', 'v@x.example'),
            client: few('c', 'd'),
            isEmailVerified: fc.constant(true),
          },
          { requiredKeys: ['user', 'email', 'client'] },
        ),
        { nil: undefined },
      ),
      dropped: fc.uniqueArray(few('thinking', 'verbosity')),
    })
    .map(({ app, dropped, ...members }) => {
      const entry = logEntry({ account: 'a', ...members, ...(dropped.length > 0 && { dropped }) })
      if (app === undefined) return entry
      // The app is named once, as the token.
      const clientName = members.tokenName ?? 'An app'
      return { ...entry, tokenName: clientName, app: { ...app, clientName } }
    })
  const entries = fc.array(alike, { maxLength: 20 })
  const writer = new LogBatchWriter()
  fc.assert(
    fc.property(entries, entries => {
      writer.clear()
      for (const entry of entries) writer.add(entry, bodiesOf(entry))
      // What is generated has no prototype.
      assert.deepEqual(read(writer.batch()), structuredClone(entries))
    }),
  )
})

test('times are read as they were written, whole or not', () => {
  const big = fc.bigInt({ min: 1n << 50n, max: 10n ** 22n }).map(Number)
  fc.assert(
    fc.property(fc.array(fc.oneof(number, fc.maxSafeNat(), big)), times => {
      const batch = batchOf(times.map(createdAt => logEntry({ account: 'a', createdAt })))
      assert.deepEqual([...timesOf(batch)], times)
    }),
  )
})

test('summaries come in slices, whatever stands in their texts, and without those that are hidden', () => {
  const metadata = { note: `],[\n${'x'.repeat(3_000)}\\"],\n[` }
  const entries = logEntries(owner, 200, i => ({ metadata, status: 200 + i }))
  const bare = entries.map(
    ({ request: _request, response: _response, providerResponse: _provider, ...summary }) => summary,
  )
  for (const hidden of [0, 1, 25, 150, 199, 200]) {
    const slices = [...summarySlices(batchOf(entries), 'a', 'default', place => place >= hidden)]
    assert.deepEqual(slices.flat(), bare.slice(hidden))
    assert.ok(slices.every(({ length }) => length <= 25))
  }
  assert.deepEqual([...summarySlices(batchOf([]), 'a', 'default')], [])
})

test('one entry is read without the others', () => {
  const entries = logEntries(owner, 3, i => (i === 1 ? { request: null } : {}))
  const batch = batchOf(entries)
  for (const [i, entry] of entries.entries()) assert.deepEqual(entriesOf(batch, 'a', 'default', i), [entry])
})

test('batches are joined, and parted again', () => {
  const entries = logEntries(owner, 5)
  const batch = joined(batchOf(entries.slice(0, 2)), batchOf(entries.slice(2)))
  assert.deepEqual(batch, batchOf(entries))
  const part = partOf(batch, (id, place) => place > 0 && id !== entries[3]!.id)
  assert.deepEqual(read(part), [entries[1], entries[2], entries[4]])
  assert.deepEqual([part.earliest, part.latest], [entries[1]!.createdAt, entries[4]!.createdAt])
  assert.equal(
    partOf(batch, () => true),
    batch,
  )
})

test('a writer has room for what comes, and takes its memory for the next batch', () => {
  const writer = new LogBatchWriter()
  const add = (entry: LogEntry) => writer.add(entry, bodiesOf(entry))
  const large = { text: 'é'.repeat(30_000), isCut: true }
  const entries = logEntries(owner, 600, i =>
    i % 50 === 0 ? { response: large } : { path: '\u{1f600}'.repeat(i) },
  )
  for (const entry of entries) add(entry)
  assert.deepEqual(read(writer.batch()), entries)
  const { weight } = writer
  writer.clear()
  assert.deepEqual([writer.count, writer.size, writer.weight], [0, 0, weight])
  const next = logEntries(owner, 2)
  for (const entry of next) add(entry)
  assert.deepEqual(
    idsOf(writer.batch().ids),
    next.map(({ id }) => id),
  )
  assert.deepEqual(writer.batch(), batchOf(next))
})
