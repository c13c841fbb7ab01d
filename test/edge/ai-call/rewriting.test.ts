import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Translation } from '../../../src/ai/translate/translation.ts'
import type { Rewriter } from '../../../src/edge/ai-call/rewriter.ts'
import { Rewriting } from '../../../src/edge/ai-call/rewriting.ts'
import { answerHead } from '../../help/exchange.ts'

const json = 'Content-Type: application/json'
const stream = 'Content-Type: text/event-stream'
const gzip = 'Content-Encoding: gzip'
const whole: Translation = {
  response: text => `<${text}>`,
  events: () => ({ push: text => text.toString(), end: () => '', isBroken: false, isComplete: true }),
} as Translation

function begin(
  wants: Partial<ConstructorParameters<typeof Rewriting>[0]>,
  status: number,
  ...lines: string[]
) {
  const rewriting = new Rewriting({
    translation: null,
    wraps: false,
    hidesUsage: false,
    reasoningTags: null,
    ...wants,
  })
  return rewriting.begin(answerHead(`HTTP/1.1 ${status} X`, ...lines))
}

/** Tells what becomes of an answer in these pieces. */
function through(rewriter: Rewriter | null | false, ...pieces: string[]): string {
  assert.ok(rewriter)
  const parts = [...pieces.map(piece => rewriter.push(Buffer.from(piece))), rewriter.end()]
  return parts.map(part => (part === null ? '' : String(part))).join('')
}

test('a response is left alone where no other form is wanted, and where it is an error', () => {
  assert.equal(begin({ wraps: true }, 429, json), null)
  assert.equal(begin({ translation: whole }, 500, json), null)
  assert.equal(begin({ hidesUsage: true }, 200, json), null)
  assert.equal(begin({ wraps: true }, 200, stream), null)
})

test('a token that may not read headers cannot rewrite them', () => {
  assert.equal(begin({ wraps: true }, 200, json, gzip), false)
  assert.equal(begin({ translation: whole }, 200, json, gzip), false)
  assert.equal(begin({ hidesUsage: true }, 200, stream, gzip), null)
  assert.equal(begin({ wraps: true }, 200, 'Content-Type: text/html'), false)
  assert.equal(begin({ wraps: true }, 200), false)
})

test('a response is put into the envelope as it arrives', () => {
  const envelope = '{"success":true,"errors":[],"messages":[],"result":{"a":1}}'
  assert.equal(through(begin({ wraps: true }, 200, json), '{"a"', ':1}'), envelope)
  assert.equal(through(begin({ wraps: true }, 200, json)), 'false')
})

test('a response is translated as a whole, but not above the size limit', () => {
  assert.equal(through(begin({ translation: whole }, 200, json), 'a', 'b'), '<ab>')
  assert.match(through(begin({ translation: whole, wraps: true }, 200, json), 'a'), /"result":<a>\}$/)
  const rewriter = begin({ translation: whole }, 200, json)
  assert.ok(rewriter)
  const megabyte = Buffer.alloc(1024 * 1024)
  for (let i = 0; i < 32; i++) assert.equal(rewriter.push(megabyte), null)
  assert.equal(rewriter.push(Buffer.alloc(1)), false)
})

test('an error is translated where both APIs write errors in another way, and else left as it is', () => {
  const failure = (text: string, status: number) => (text.startsWith('{') ? `${status}: ${text}` : null)
  const translation = { ...whole, failure }
  assert.equal(through(begin({ translation }, 429, json), '{"a"', ':1}'), '429: {"a":1}')
  assert.equal(through(begin({ translation }, 500, json), 'no'), 'no')
  assert.equal(through(begin({ translation }, 500, json)), '')
  const large = 'x'.repeat(1024 * 1024)
  assert.equal(through(begin({ translation }, 500, json), '{', large, '}'), `{${large}}`)
  assert.equal(begin({ translation }, 500, json, gzip), null)
  assert.equal(begin({ translation }, 500, 'Content-Type: text/html'), null)
  assert.equal(begin({ translation }, 304, json), null)
})
