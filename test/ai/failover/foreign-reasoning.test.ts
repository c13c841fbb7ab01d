// What one provider alone can read comes back to it as it was, and goes to no other.

import { deepEqual, equal, ok, partialDeepStrictEqual } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { withOwnReasoning } from '../../../src/ai/failover/foreign-reasoning.ts'
import { type ReasoningApi, ReasoningTags } from '../../../src/ai/failover/reasoning-tags.ts'
import { anyCharacter } from '../../help/any-text.ts'

const text = fc.string({ unit: anyCharacter, maxLength: 12 })
const secret = fc.oneof(
  fc.base64String({ minLength: 4 }),
  text.filter(text => text !== ''),
)
const origin = fc.constantFrom('openai', 'open', 'custom-a', null)
const tagged = (name: string | null, secret: string) => (name === null ? secret : `svc.${name}.${secret}`)

/** A block as callers send it back, and who created it; undefined for one that anybody may read. */
interface Block {
  readonly value: (name: string | null) => object
  readonly origin: string | null | undefined
}

const plain = (value: object): Block => ({ value: () => value, origin: undefined })

const blocks: Readonly<Record<ReasoningApi, fc.Arbitrary<Block>>> = {
  messages: fc.oneof(
    fc.record({ text }).map(({ text }) => plain({ type: 'text', text })),
    fc.record({ signature: text }).map(input => plain({ type: 'tool_use', id: 'x', name: 'sign', input })),
    fc.constant(plain({ type: 'thinking', thinking: 'unsigned', signature: '' })),
    fc.tuple(text, secret, origin).map(([thinking, signature, origin]) => ({
      origin,
      value: (name: string | null) => ({ type: 'thinking', thinking, signature: tagged(name, signature) }),
    })),
    fc.tuple(secret, origin).map(([data, origin]) => ({
      origin,
      value: (name: string | null) => ({ data: tagged(name, data), type: 'redacted_thinking' }),
    })),
  ),
  responses: fc.oneof(
    text.map(content => plain({ role: 'user', content })),
    fc.constant(plain({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null })),
    secret.map(data => plain({ type: 'compaction', encrypted_content: data })),
    fc.tuple(text, secret, origin).map(([id, data, origin]) => ({
      origin,
      value: (name: string | null) => ({
        type: 'reasoning',
        id,
        encrypted_content: tagged(name, data),
        summary: [],
      }),
    })),
  ),
  chat: fc.oneof(
    text.map(summary => plain({ type: 'reasoning.summary', summary })),
    text.map(text => plain({ type: 'reasoning.text', text, signature: null })),
    fc.tuple(text, secret, origin).map(([text, signature, origin]) => ({
      origin,
      value: (name: string | null) => ({ type: 'reasoning.text', text, signature: tagged(name, signature) }),
    })),
    fc.tuple(secret, origin).map(([data, origin]) => ({
      origin,
      value: (name: string | null) => ({ type: 'reasoning.encrypted', data: tagged(name, data), id: 'r' }),
    })),
  ),
}

type Turn = readonly Block[]

/** Writes a conversation; `keep` turns a block into what is sent of it, or null. */
function conversation(api: ReasoningApi, turns: readonly Turn[], keep: (block: Block) => object | null) {
  const kept = turns.map(turn => ({
    wasEmpty: turn.length === 0,
    blocks: turn.flatMap(block => keep(block) ?? []),
  }))
  if (api === 'responses') return { model: 'fast', input: kept.flatMap(({ blocks }) => blocks) }
  const remaining = kept.filter(({ wasEmpty, blocks }) => api === 'chat' || wasEmpty || blocks.length > 0)
  const messages = remaining.map(({ wasEmpty, blocks }) => {
    if (api === 'messages') return { role: 'assistant', content: blocks }
    const details = wasEmpty || blocks.length > 0 ? { reasoning_details: blocks } : {}
    return { role: 'assistant', ...details, content: '"reasoning_details"' }
  })
  return { messages, model: 'fast' }
}

function sent(api: ReasoningApi, body: string | object, provider: string, isRouted = true) {
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  const request = { bytes: Buffer.from(json), request: JSON.parse(json), api, provider, isRouted }
  return withOwnReasoning(request)
}

for (const api of ['messages', 'responses', 'chat'] as const)
  describe(`reasoning of ${api}`, () => {
    const turns = fc.array(fc.array(blocks[api], { maxLength: 4 }), { maxLength: 4 })

    test('goes to the provider that created it, without its tag, and to no other', () => {
      fc.assert(
        fc.property(turns, fc.constantFrom(0, 1, '\t'), (turns, indent) => {
          const body = conversation(api, turns, ({ value, origin }) => value(origin ?? null))
          const expected = conversation(api, turns, ({ value, origin }) =>
            origin === undefined || origin === 'openai' ? value(null) : null,
          )
          const own = sent(api, JSON.stringify(body, null, indent), 'openai')
          ok('bytes' in own)
          const hasForeign = turns.flat().some(({ origin }) => origin !== undefined && origin !== 'openai')
          equal(own.dropped.length > 0, hasForeign)
          if (indent === 0) equal(own.bytes.toString(), JSON.stringify(expected))
          else equal(JSON.stringify(JSON.parse(own.bytes.toString())), JSON.stringify(expected))
        }),
        { numRuns: 300 },
      )
    })

    test('without a tag stays in a call by the name of a model', () => {
      fc.assert(
        fc.property(turns, turns => {
          const body = conversation(api, turns, ({ value, origin }) => value(origin ?? null))
          const expected = conversation(api, turns, ({ value, origin }) =>
            origin === 'openai' || (origin ?? null) === null ? value(null) : null,
          )
          const own = sent(api, body, 'openai', false)
          ok('bytes' in own)
          equal(own.bytes.toString(), JSON.stringify(expected))
        }),
        { numRuns: 300 },
      )
    })

    test('is tagged in a response, which else stays as it is', () => {
      fc.assert(
        fc.property(fc.array(blocks[api], { maxLength: 5 }), fc.constantFrom(0, 2), (blocks, indent) => {
          const written = (name: string | null) =>
            blocks.map(({ value, origin }) => value(origin === undefined ? null : name))
          for (const [response, events] of responsesOf(api)) {
            const body = JSON.stringify(response(written(null)), null, indent)
            const expected = JSON.stringify(response(written('custom-a')), null, indent)
            const tags = new ReasoningTags(api, 'custom-a')
            equal(tags.tagBody(Buffer.from(body)).toString(), expected)
            if (indent !== 0 || !events) continue
            const stream = (data: string) =>
              `: ping\r\nevent: x\r\ndata: ${data}\r\n\r\ndata:${data}\n\ndata: [DONE]\n\n`
            equal(tags.tagEvents(Buffer.from(stream(body))).toString(), stream(expected))
          }
        }),
        { numRuns: 300 },
      )
    })
  })

/** Gives the forms in which blocks come, and whether they are events of a stream. */
function responsesOf(
  api: ReasoningApi,
): readonly (readonly [form: (blocks: readonly object[]) => object, isEvent: boolean])[] {
  const tool = { input: { type: 'thinking', signature: 'x' } }
  if (api === 'messages')
    return [
      [content => ({ type: 'message', content: [...content, { type: 'tool_use', ...tool }] }), false],
      [([block]) => ({ type: 'content_block_start', index: 0, content_block: block }), true],
    ]
  if (api === 'responses')
    return [
      [output => ({ object: 'response', metadata: { encrypted_content: 'x' }, output }), false],
      [output => ({ type: 'response.completed', response: { output } }), true],
      [([item]) => ({ type: 'response.output_item.done', item }), true],
    ]
  return [
    [reasoning_details => ({ choices: [{ message: { content: 'x', reasoning_details } }] }), false],
    [reasoning_details => ({ choices: [{ delta: { reasoning_details } }] }), true],
  ]
}

test('a signature that is streamed alone is tagged', () => {
  const tags = new ReasoningTags('messages', 'anthropic')
  const event = (signature: string) =>
    `data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"${signature}"}}\n\n`
  equal(tags.tagEvents(Buffer.from(event('abc'))).toString(), event('svc.anthropic.abc'))
})

test('bytes that are no JSON are taken, whatever they are', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    ' ',
    '"signature"',
    '"content"',
    '"delta"',
    '"type"',
    '"thinking"',
    '"messages"',
    'data:',
    '\n',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), pieces => {
      const bytes = Buffer.from(pieces.join(''))
      const tags = new ReasoningTags('messages', 'a')
      tags.tagBody(bytes)
      tags.tagEvents(bytes)
      withOwnReasoning({ bytes, request: {}, api: 'messages', provider: 'a', isRouted: true })
    }),
  )
})

describe('thinking that led to the use of tools', () => {
  const conversationOf = (thinking: object, ...more: object[]) => ({
    thinking,
    messages: [
      { role: 'user', content: 'Q' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'T', signature: 'svc.anthropic.s' },
          { type: 'tool_use', id: 't', name: 'n', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '1' }] },
      ...more,
    ],
  })
  const enabled = { type: 'enabled', budget_tokens: 1024 }
  const missed = { missed: '/messages/1/content/0' }

  test('is missed by another provider, which would refuse the results without it', () => {
    deepEqual(sent('messages', conversationOf(enabled), 'custom-a'), missed)
    ok('bytes' in sent('messages', conversationOf(enabled), 'anthropic'))
  })

  test('can be left out where its provider does not insist on it', () => {
    const later = [
      { role: 'assistant', content: [{ type: 'text', text: 'A' }] },
      { role: 'user', content: 'Q' },
    ]
    for (const body of [
      conversationOf({ type: 'adaptive' }),
      conversationOf(enabled, ...later),
      { ...conversationOf(enabled), thinking: undefined },
    ])
      partialDeepStrictEqual(sent('messages', body, 'custom-a'), {
        dropped: ['messages[].content[].thinking'],
      })
  })
})
