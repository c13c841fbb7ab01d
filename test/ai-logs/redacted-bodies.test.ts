import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Batch } from '../../src/ai-logs/batch.ts'
import { withoutPieces } from '../../src/ai-logs/pieces.ts'
import { redactedBodies } from '../../src/ai-logs/redacted-bodies.ts'
import { batchOf, bodiesOf, entriesOf, type Payloads } from '../../src/store/log-batch/batch.ts'
import { redactedBytes } from '../../src/tokens/redaction.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { anyCharacter } from '../help/any-text.ts'
import { logEntries, logEntry } from '../store/contract-specimens.ts'
import { gateway } from './observed.ts'

const { value: token } = mintToken()

const text = fc
  .array(fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(token, 'svc', '%73', 'basic ')))
  .map(parts => parts.join(''))
const body = fc.option(fc.record({ text, isCut: fc.boolean() }))
const bodies = fc.record({ request: body, response: body, providerResponse: body })

function ofEntries(entries: readonly Payloads[]) {
  return batchOf(entries.map(payloads => logEntry({ account: 'a', ...payloads })))
}

test('of many bodies, each is as if it had been alone', () => {
  const alone = (body: Payloads['request']) =>
    body && { ...body, text: redactedBytes(Buffer.from(body.text)).toString() }
  fc.assert(
    fc.property(fc.array(bodies), entries => {
      const batch = ofEntries(entries)
      const safe = redactedBodies(batch, () => false)
      const expected = ofEntries(
        entries.map(({ request, response, providerResponse }) => ({
          request: alone(request),
          response: alone(response),
          providerResponse: alone(providerResponse),
        })),
      )
      deepEqual(bodiesOf(safe), bodiesOf(expected))
    }),
  )
})

test('bodies without anything like a credential are not even copied', () => {
  const batch = ofEntries([
    { request: { text: 'Hello!', isCut: false }, response: null, providerResponse: null },
  ])
  equal(
    redactedBodies(batch, () => true),
    batch,
  )
})

test('what a model repeats in pieces of a request is left out of a stream, and of nothing else', () => {
  const event = (content: string) => `data: {"content":"${content}"}\n\n`
  const stream = event(token.slice(0, 20)) + event(token.slice(20))
  const entry = {
    request: { text: `Repeat ${token}!`, isCut: false },
    response: { text: stream, isCut: false },
    providerResponse: { text: Buffer.from(stream).toString('base64'), isCut: false, isBase64: true as const },
  }
  const safe = redactedBodies(ofEntries([entry, entry]), i => i === 1)
  const [whole, inPieces] = bodiesOf(safe).map(({ bytes }) => bytes.toString())
  equal(whole, `Repeat svct_[redacted]!${stream}${stream}`)
  equal(inPieces, `Repeat svct_[redacted]!${withoutPieces(Buffer.from(stream))}${stream}`)
})

test('a batch of any size gives away no credential', () => {
  const batch = new Batch(gateway)
  const entries = logEntries(gateway, 300)
  const none = { isCut: false, isBinary: false }
  for (const [i, { request: _, response: __, providerResponse: ___, ...summary }] of entries.entries()) {
    const bytes = Buffer.from('a'.repeat(7 * i) + (i % 3 === 0 ? token : '-'))
    batch.add(summary, { request: { ...none, bytes }, response: { ...none, bytes }, providerResponse: null })
  }
  const stored = entriesOf(batch.batch(), gateway.account, gateway.id)
  equal(stored.length, 300)
  for (const [i, { request, response }] of stored.entries()) {
    equal(request!.text, 'a'.repeat(7 * i) + (i % 3 === 0 ? 'svct_[redacted]' : '-'))
    deepEqual(response, request)
  }
  ok(!batch.batch().bodies.includes(token))
})
