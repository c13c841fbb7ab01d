import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PriceTable } from '../../../src/ai/usage/prices.ts'
import { noTokens } from '../../../src/ai/usage/usage.ts'
import { worstCaseOf } from '../../../src/ai/usage/worst-case.ts'

const chat = '/v1/chat/completions'
const of = (request: object | string, path = chat, provider = 'openai') =>
  worstCaseOf(
    Buffer.from(typeof request === 'string' ? request : JSON.stringify(request)),
    path,
    provider,
    500,
  )

for (const [path, request, tokensOut] of [
  [chat, { max_tokens: 7 }, 7],
  [chat, { max_completion_tokens: 9, max_tokens: 7 }, 9],
  [chat, { max_tokens: 7, n: 3 }, 21],
  ['/v1/completions', { max_tokens: 7, best_of: 4 }, 28],
  ['/v1/responses', { max_output_tokens: 11 }, 11],
  ['/v1/messages', { max_tokens: 12 }, 12],
  ['/v1beta/models/g:generateContent', { generationConfig: { maxOutputTokens: 13, candidateCount: 2 } }, 26],
  ['/model/m/converse', { inferenceConfig: { maxTokens: 14 } }, 14],
  ['/api/chat', { options: { num_predict: 15 } }, 15],
  ['/v1/embeddings', { input: 'x' }, 0],
] as const)
  test(`the output of ${path} with ${JSON.stringify(request)} is at most ${tokensOut}`, () => {
    const worst = of(request, path)
    assert.equal(worst.tokensOut, tokensOut)
    assert.equal(worst.body, null)
  })

for (const [path, provider, request, sent] of [
  [chat, 'openai', { model: 'o3' }, { max_completion_tokens: 500, model: 'o3' }],
  [chat, 'groq', { model: 'llama' }, { max_tokens: 500, model: 'llama' }],
  ['/v1/responses', 'openai', { input: 'x' }, { max_output_tokens: 500, input: 'x' }],
  [
    '/v1beta/models/g:streamGenerateContent',
    'google-ai-studio',
    { contents: [] },
    { generationConfig: { maxOutputTokens: 500 }, contents: [] },
  ],
  [
    '/v1beta/models/g:generateContent',
    'google-ai-studio',
    { generationConfig: { topK: 1 } },
    { generationConfig: { maxOutputTokens: 500, topK: 1 } },
  ],
  [
    '/v1beta/models/g:generateContent',
    'google-ai-studio',
    { generationConfig: {} },
    { generationConfig: { maxOutputTokens: 500 } },
  ],
] as const)
  test(`a call of ${provider}${path} without a maximum gets the default`, () => {
    const { body, tokensOut } = of(request, path, provider)
    assert.equal(tokensOut, 500)
    assert.deepEqual(JSON.parse(body!.toString()), sent)
  })

for (const odd of ['null', '"9"', '-1', '1.5', '[1]'])
  test(`a maximum of ${odd} is replaced by the default`, () => {
    const { tokensOut, body } = of(`{"max_tokens":${odd},"n":1}`)
    assert.equal(tokensOut, 500)
    assert.equal(body!.toString(), '{"max_tokens":500,"n":1}')
  })

test('a maximum beyond all numbers counts as the most that any provider writes', () => {
  assert.equal(of('{"max_tokens":1e308}').tokensOut, 10_000_000)
})

test('names count in any case, and each prompt of a completion has an output', () => {
  assert.equal(of('{"MAX_TOKENS":9}').tokensOut, 9)
  assert.equal(of({ prompt: ['a', 'b', 'c'], max_tokens: 7 }, '/v1/completions').tokensOut, 21)
})

test('of duplicates the largest counts, and what stands deeper is no maximum', () => {
  assert.equal(of('{"max_tokens":9,"max_tokens":1}').tokensOut, 9)
  assert.equal(of('{"max_tokens":1,"m\\u0061x_tokens":9}').tokensOut, 9)
  assert.equal(of({ metadata: { max_tokens: 1 }, messages: [{ max_tokens: 1 }] }).tokensOut, 500)
})

test('an image counts by its tokens, not by its bytes', () => {
  const url = `data:image/png;base64,${'A'.repeat(400_000)}`
  const { tokensIn } = of({
    messages: [{ content: [{ type: 'image_url', image_url: { url } }] }],
    max_tokens: 1,
  })
  assert.ok(tokensIn > 1000 && tokensIn < 10_000, String(tokensIn))
})

const limit = fc.oneof(fc.nat({ max: 100_000 }), fc.double(), fc.string(), fc.constant(null), fc.boolean())

test('whatever a body says, no reader of JSON finds a larger maximum', () => {
  const request = fc.record(
    {
      max_tokens: limit,
      max_completion_tokens: limit,
      max_output_tokens: limit,
      n: fc.nat({ max: 8 }),
      generationConfig: fc.record({ maxOutputTokens: limit }, { requiredKeys: [] }),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(request, fc.constantFrom(chat, '/v1/responses', '/m:generateContent'), (request, path) => {
      const { tokensOut, body } = of(request, path)
      const sent = body === null ? request : JSON.parse(body.toString())
      const { max_tokens, max_completion_tokens, max_output_tokens, generationConfig, n = 1 } = sent
      for (const max of [
        max_tokens,
        max_completion_tokens,
        max_output_tokens,
        generationConfig?.maxOutputTokens,
      ])
        if (Number.isInteger(max) && max >= 0)
          assert.ok(tokensOut >= Math.min(max, 10_000_000) * Math.max(1, n))
    }),
    { numRuns: 2000 },
  )
})

test('no bytes make it throw, and the input never counts as nothing', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map(text => Buffer.from(text)),
  )
  fc.assert(
    fc.property(
      bytes,
      fc.constantFrom(
        '/',
        '/v1/chat/completions',
        '/v1/messages',
        '/v1/embeddings',
        '/m:generateContent',
        '/api/chat',
        '/model/m/converse',
      ),
      (bytes, path) => {
        const { tokensIn, tokensOut } = worstCaseOf(Buffer.from(bytes), path, 'openai', 500)
        assert.ok(Number.isSafeInteger(tokensIn) && tokensIn >= bytes.length / 4)
        assert.ok(Number.isSafeInteger(tokensOut) && tokensOut >= 0)
      },
    ),
    { numRuns: 2000 },
  )
})

test('no usage within the worst case costs more, at any tier, of any model', () => {
  const prices = new PriceTable([])
  const models = [
    'openai/gpt-4o',
    'openai/gpt-5.1',
    'anthropic/claude-sonnet-4-5',
    'google-ai-studio/gemini-2.5-pro',
  ]
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(
      fc.constantFrom(...models),
      fc.nat({ max: 500_000 }),
      fc.nat({ max: 100_000 }),
      fc.tuple(part, part, part),
      fc.constantFrom(null, 'priority', 'flex', 'batch', 'default'),
      fc.nat({ max: 10 }),
      (name, tokensIn, tokensOut, [read, written, long], tier, searches) => {
        const [provider, model] = name.split('/') as [string, string]
        const cacheRead = Math.floor(tokensIn * read)
        const cacheWritten = Math.floor((tokensIn - cacheRead) * written)
        const usage = {
          ...{ ...noTokens, tokensIn, tokensOut, cacheRead, cacheWritten, model, tier, searches },
          cacheWrittenLong: Math.floor(cacheWritten * long),
        }
        const cost = prices.costOf(provider, model, usage)
        const worst = prices.worstCost(provider, model, tokensIn, tokensOut, searches)
        assert.ok(worst !== null, name)
        if (cost !== null) assert.ok(cost * 1e9 <= worst + 1, `${name} ${cost} ${worst}`)
      },
    ),
    { numRuns: 3000 },
  )
})
