import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../help/any-text.ts'
import { withoutPieces } from '../../src/ai-logs/pieces.ts'
import { mintToken } from '../../src/tokens/token.ts'

const { value: token } = mintToken()

/** How streams of each API bring a piece of text. */
const apis: Readonly<Record<string, (text: string, i: number) => string>> = {
  chat: text => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: text } }] })}\n\n`,
  'tool of chat': text =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: text } }] } }] })}\n\n`,
  messages: text =>
    `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\r\n\r\n`,
  responses: (delta, i) =>
    `data: ${JSON.stringify({ type: 'response.output_text.delta', output_index: 0, content_index: 0, sequence_number: i, delta })}\n\n`,
  'lines of JSON': content => `${JSON.stringify({ message: { role: 'assistant', content } })}\n`,
}

/** Reads what a stream brought, in the order of its events. */
function textIn(stream: string): string {
  return [...stream.matchAll(/"(?:content|arguments|text|delta)":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, text]) => JSON.parse(`"${text}"`))
    .join('')
}

for (const [name, event] of Object.entries(apis))
  test(`a credential that comes in pieces is left out, and all else remains (${name})`, () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter }),
        fc.string({ unit: anyCharacter }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (before, after, lengths) => {
          const text = `${before} ${token} ${after}`
          const pieces: string[] = []
          for (let at = 0, i = 0; at < text.length; at += lengths[i++ % lengths.length]!)
            pieces.push(text.slice(at, at + lengths[i % lengths.length]!))
          const stream = pieces.map(event).join('')
          const safe = withoutPieces(Buffer.from(stream)).toString()
          equal(textIn(safe), textIn(stream).replace(token, 'svct_[redacted]'))
          equal(safe.split('\n').length, stream.split('\n').length)
        },
      ),
    )
  })

test('of an event that is nested too deeply to be written again, nothing is left', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const events = [token.slice(0, 20), token.slice(20)].map(
    (content, i) => `data: {"content":${JSON.stringify(content)},"deep":${i === 0 ? deep : 0}}\n\n`,
  )
  const safe = withoutPieces(Buffer.from(events.join(''))).toString()
  equal(safe, 'data: "[redacted]"\n\ndata: {"content":"","deep":0}\n\n')
})

test('texts that come in turns are each put together', () => {
  const other = mintToken('svco_').value
  const of = (index: number, content: string) =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`
  let stream = ''
  for (let at = 0; at < token.length; at += 3)
    stream += of(0, token.slice(at, at + 3)) + of(1, other.slice(at, at + 3))
  const safe = withoutPieces(Buffer.from(stream)).toString()
  equal(textIn(safe).includes(token.slice(10, 13)), false)
  equal(textIn(safe).includes(other.slice(10, 13)), false)
})

test('without one, the bytes are those that came, whatever they are', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), text => {
      const bytes = Buffer.from(text)
      equal(withoutPieces(bytes), bytes)
    }),
  )
  const deep = Buffer.from(`data: ${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}\n`)
  equal(withoutPieces(deep), deep)
  for (const line of ['data: [DONE]', 'data: {"a":', 'data: null', ': ping', '{"__proto__":"x"}'])
    deepEqual(withoutPieces(Buffer.from(line)), Buffer.from(line))
})
