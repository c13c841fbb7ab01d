import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CompleteEvents } from '../../../src/edge/ai-call/complete-events.ts'
import { withoutUsage } from '../../../src/edge/ai-call/withheld-usage.ts'
import { anyCharacter } from '../../help/any-text.ts'

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
const chunk = (content: string, more: object = {}) =>
  JSON.stringify({ choices: [{ index: 0, delta: { content } }], usage: null, ...more })

/** Passes a stream on in pieces that end at these places. */
function passed(stream: Buffer, ends: readonly number[] = []): string {
  const rewriter = new CompleteEvents(64 * 1024, withoutUsage)
  const pieces: (Buffer | null)[] = []
  let start = 0
  for (const end of [...ends.toSorted((a, b) => a - b), stream.length]) {
    pieces.push(rewriter.push(stream.subarray(start, end)))
    start = end
  }
  pieces.push(rewriter.end())
  return Buffer.concat(pieces.filter(piece => piece !== null)).toString('latin1')
}

test('an event that never ends goes on once it is larger than any', () => {
  const rewriter = new CompleteEvents(64 * 1024, withoutUsage)
  assert.equal(rewriter.push(Buffer.alloc(64 * 1024, 'x')), null)
  assert.equal(rewriter.push(Buffer.from('y'))?.length, 64 * 1024 + 1)
  assert.equal(rewriter.end(), null)
})

const kept = fc.oneof(
  fc.string({ unit: anyCharacter }).map(text => `data: ${chunk(text)}`),
  fc.constantFrom(
    'data: [DONE]',
    ': ping',
    // Usage beside choices is the caller's, and so is what only looks like it.
    `data: ${chunk('x', { usage })}`,
    `data: ${chunk('{"choices":[],"usage":{"prompt_tokens":1}}')}`,
    'data: {"choices":[],"prompt_filter_results":[]}',
    'data: {"choices":[],"usage":null,"x":{"prompt_tokens":1}}',
    'data: {"prompt_tokens"',
  ),
)
const withheld = fc.constantFrom(0, 2).map(indent =>
  JSON.stringify({ choices: [], usage }, null, indent)
    .split('\n')
    .map(line => `data: ${line}`),
)
const event = fc.oneof({ weight: 4, arbitrary: kept }, { weight: 1, arbitrary: withheld })

test('usage alone is withheld, and nothing else, however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(2000), { maxLength: 6 }),
      (events, newline, cuts) => {
        const write = (event: string | string[]) => `${[event].flat().join(newline)}${newline}${newline}`
        const stream = Buffer.from(events.map(write).join(''))
        const expected = Buffer.from(
          events
            .filter(event => typeof event === 'string')
            .map(write)
            .join(''),
        )
        const ends = cuts.map(cut => Math.min(cut, stream.length))
        assert.equal(passed(stream, ends), expected.toString('latin1'))
      },
    ),
    { numRuns: 1000 },
  )
})

test('an event goes on as soon as it is whole, and what never ends goes on in the end', () => {
  const rewriter = new CompleteEvents(64 * 1024, withoutUsage)
  const first = `data: ${chunk('a')}\n\n`
  assert.equal(String(rewriter.push(Buffer.from(`${first}data: {"ch`))), first)
  assert.equal(rewriter.push(Buffer.from('oices"')), null)
  assert.equal(String(rewriter.end()), 'data: {"choices"')
})

test('an event of any size passes', () => {
  const large = Buffer.from(`data: ${chunk('x'.repeat(300_000))}\n\ndata: [DONE]\n\n`)
  assert.equal(passed(large, [1000, 70_000, 140_000]), large.toString('latin1'))
})

test('an event that comes byte by byte costs no more than its bytes', () => {
  const rewriter = new CompleteEvents(64 * 1024, withoutUsage)
  const begun = process.threadCpuUsage()
  for (let i = 0; i < 200_000; i++) rewriter.push(Buffer.from('x'))
  const { user, system } = process.threadCpuUsage(begun)
  assert.ok((user + system) / 1000 < 1500, `${user + system} µs`)
})
