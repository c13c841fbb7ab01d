// Spend limits over calls that are no chats: embeddings, images, sound and forms are charged like the rest.

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { SpendRule } from '../../src/store/records/budget-rule.ts'
import { call, json, startAi } from '../help/ai.ts'
import { hasty, prices, rule, spentOf } from '../help/budgeted.ts'
import { ok, startResponder } from '../help/origin.ts'

const priced = ['text-embedding-3-small', 'gpt-image-1', 'gpt-4o-transcribe', 'gpt-4o-mini-tts'].map(
  model => ({
    ...prices[0]!,
    model: `openai/${model}`,
  }),
)
const dollars = rule({ limit: 1_000 })
const tokens: SpendRule = rule({ id: 'tokens', unit: 'tokens', limit: 1_000_000_000 })

async function start(t: TestContext, response: string, rules: readonly SpendRule[]) {
  const openai = await startResponder(t, response)
  const ai = await startAi(
    t,
    { openai: { url: openai.url, keys: ['sk-a'] } },
    { ai: { prices: priced }, gateway: { spendLimits: { isEnabled: true, rules } }, budgets: hasty },
  )
  const ask = (path: string, body: object | string, type = 'application/json') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const request = call(`${ai.native('openai')}${path}`, text, `svc-aig-authorization: Bearer ${ai.token}`)
    return ai.edge.ask(request.replace('application/json', type))
  }
  return { ai, openai, ask }
}

const form = (model: string) =>
  `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n${'R'.repeat(4_000)}\r\n--b--\r\n`
const formType = 'multipart/form-data; boundary=b'

interface Case {
  readonly path: string
  readonly model: string
  readonly body: object | string
  readonly type?: string
  /** The response, and what it is charged of rules of dollars (in nanodollars) and of tokens; null for all. */
  readonly response: string
  readonly cost: number | null
  readonly tokens: number | null
}

const cases: Readonly<Record<string, Case>> = {
  embeddings: {
    path: '/v1/embeddings',
    model: 'text-embedding-3-small',
    body: { model: 'text-embedding-3-small', input: 'Hi' },
    response: json({ data: [], usage: { prompt_tokens: 7, total_tokens: 7 } }),
    cost: 7_000,
    tokens: 7,
  },
  images: {
    path: '/v1/images/generations',
    model: 'gpt-image-1',
    body: { model: 'gpt-image-1', prompt: 'A cat', n: 2 },
    response: json({ data: [], usage: { input_tokens: 5, output_tokens: 2_000, total_tokens: 2_005 } }),
    cost: 5 * 1000 + 2_000 * 10_000,
    tokens: 2_005,
  },
  'a transcription that counts tokens': {
    path: '/v1/audio/transcriptions',
    model: 'gpt-4o-transcribe',
    body: form('gpt-4o-transcribe'),
    type: formType,
    response: json({ text: 'Hi', usage: { type: 'tokens', input_tokens: 14, output_tokens: 2 } }),
    cost: 14 * 1000 + 2 * 10_000,
    tokens: 16,
  },
  'a transcription without usage': {
    path: '/v1/audio/transcriptions',
    model: 'gpt-4o-transcribe',
    body: form('gpt-4o-transcribe'),
    type: formType,
    response: json({ text: 'Hi' }),
    cost: null,
    tokens: null,
  },
  speech: {
    path: '/v1/audio/speech',
    model: 'gpt-4o-mini-tts',
    body: { model: 'gpt-4o-mini-tts', input: 'Hi', voice: 'alloy' },
    response: ok('ID3', 'Content-Type: audio/mpeg'),
    cost: null,
    tokens: null,
  },
}

for (const [name, { path, model, body, type, response, ...charge }] of Object.entries(cases))
  describe(`${name}:`, () => {
    for (const [unit, one, amount] of [
      ['dollars', dollars, charge.cost],
      ['tokens', tokens, charge.tokens],
    ] as const)
      test(
        amount === null ? `the reservation is charged in ${unit}` : `the usage is charged in ${unit}`,
        async t => {
          const { ai, ask, openai } = await start(t, response, [one])
          const { status, text } = await ask(path, body, type)
          assert.equal(status, 200, text)
          assert.equal(openai.requests.length, 1)
          const spent = await spentOf(ai, model)
          if (amount === null) assert.ok(spent > 0, `${spent}`)
          else assert.equal(spent, amount)
        },
      )
  })

test('a list of models costs nothing', async t => {
  const { ai } = await start(t, json({ data: [] }), [tokens])
  const { status } = await ai.edge.ask(
    `GET ${ai.native('openai')}/v1/models HTTP/1.1\r\nHost: ai.test\r\nsvc-aig-authorization: Bearer ${ai.token}\r\n\r\n`,
  )
  assert.equal(status, 200)
  assert.equal(await spentOf(ai), 0)
})
