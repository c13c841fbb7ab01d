import { deepEqual, equal, match } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { priceList } from '../../../../src/config/settings/ai/price-list.ts'
import type { PriceList } from '../../../../src/config/model/price-config.ts'

const unknown = {
  cacheRead: null,
  cacheWrite: null,
  cacheWriteLong: null,
  audioIn: null,
  audioOut: null,
}

function read(content: object): PriceList {
  const reading = priceList(JSON.stringify(content))
  if ('flaw' in reading) throw new Error(reading.flaw)
  return reading.value
}

function flawOf(content: string | object): string {
  const reading = priceList(typeof content === 'string' ? content : JSON.stringify(content))
  return 'flaw' in reading ? reading.flaw : ''
}

describe('the public list of LiteLLM', () => {
  const sample_spec = { litellm_provider: 'one of …', input_cost_per_token: 0, output_cost_per_token: 0 }

  test('gives the price of a million tokens, by our names for providers', () => {
    const { date, prices } = read({
      sample_spec,
      'gpt-4o': {
        litellm_provider: 'openai',
        mode: 'chat',
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 0.00001,
        cache_read_input_token_cost: 1.25e-6,
        input_cost_per_token_batches: 1.25e-6,
        output_cost_per_token_batches: 5e-6,
        input_cost_per_token_priority: 4.25e-6,
        output_cost_per_token_priority: 1.7e-5,
        search_context_cost_per_query: { search_context_size_low: 0.03, search_context_size_medium: 0.035 },
      },
      'gemini/gemini-2.5-pro': {
        litellm_provider: 'gemini',
        input_cost_per_token: 1.25e-6,
        output_cost_per_token: 1e-5,
        input_cost_per_audio_token: 7e-7,
        input_cost_per_token_above_200k_tokens: 2.5e-6,
        output_cost_per_token_above_200k_tokens: 1.5e-5,
      },
      'azure/eu/gpt-4o': { litellm_provider: 'azure', input_cost_per_token: 0, output_cost_per_token: 0 },
      'text-embedding-3-small': { litellm_provider: 'openai', mode: 'embedding', input_cost_per_token: 2e-8 },
      'xai/grok-4': { litellm_provider: 'xai', input_cost_per_token: 3e-6, output_cost_per_token: 1.5e-5 },
    })
    equal(date, null)
    const plain = { long: null, tiers: {}, search: null }
    deepEqual(prices, [
      {
        model: 'openai/gpt-4o',
        rates: { ...unknown, input: 2.5, output: 10, cacheRead: 1.25 },
        long: null,
        tiers: {
          priority: { ...unknown, input: 4.25, output: 17 },
          batch: { ...unknown, input: 1.25, output: 5 },
        },
        search: 0.035,
      },
      {
        ...plain,
        model: 'google-ai-studio/gemini-2.5-pro',
        rates: { ...unknown, input: 1.25, output: 10, audioIn: 0.7 },
        long: { above: 200_000, rates: { ...unknown, input: 2.5, output: 15 } },
      },
      { ...plain, model: 'azure-openai/eu/gpt-4o', rates: { ...unknown, input: 0, output: 0 } },
      { ...plain, model: 'openai/text-embedding-3-small', rates: { ...unknown, input: 0.02, output: 0 } },
      { ...plain, model: 'xai/grok-4', rates: { ...unknown, input: 3, output: 15 } },
    ])
  })

  test('leaves out what has no price by the token', () => {
    const odd = {
      'dall-e-3': { litellm_provider: 'openai', input_cost_per_pixel: 1e-8 },
      half: { litellm_provider: 'openai', input_cost_per_token: 1e-6 },
      negative: { litellm_provider: 'openai', input_cost_per_token: -1, output_cost_per_token: 1 },
      text: 'none',
    }
    match(flawOf({ sample_spec, ...odd }), /must have the price of a model at least/)
  })
})

describe('a list of our own', () => {
  test('has the settings of ai.prices, and more', () => {
    const { date, prices } = read({
      date: '2026-11-01',
      prices: {
        'custom-lab/m': {
          input: 1,
          output: 2,
          cache_read: 0.1,
          cache_write: 1.25,
          cache_write_1h: 2,
          audio_input: 3,
          audio_output: 4,
          search: 0.01,
          above: { tokens: 100_000, input: 2, output: 4 },
          tiers: { flex: { input: 0.5, output: 1 } },
        },
      },
    })
    equal(date, '2026-11-01')
    deepEqual(prices, [
      {
        model: 'custom-lab/m',
        rates: {
          input: 1,
          output: 2,
          cacheRead: 0.1,
          cacheWrite: 1.25,
          cacheWriteLong: 2,
          audioIn: 3,
          audioOut: 4,
        },
        long: { above: 100_000, rates: { ...unknown, input: 2, output: 4 } },
        tiers: { flex: { ...unknown, input: 0.5, output: 1 } },
        search: 0.01,
      },
    ])
  })

  test('names what is wrong in it', () => {
    const price = { input: 1, output: 2 }
    match(flawOf({ date: 'today', prices: { 'a/b': price } }), /date must be a date/)
    match(flawOf({ prices: { b: price } }), /"b" must be PROVIDER\/MODEL/)
    match(flawOf({ prices: { 'a/b': { input: 1 } } }), /"a\/b" must have input and output/)
    match(flawOf({ prices: { 'a/b': { input: 1, output: -2 } } }), /"a\/b" must have input and output/)
    match(flawOf({ prices: { 'a/b': { ...price, above: { input: 1 } } } }), /above of "a\/b"/)
    match(flawOf({ prices: { 'a/b': { ...price, tiers: { flex: {} } } } }), /tiers of "a\/b"/)
    match(flawOf({ prices: {} }), /at least/)
    for (const text of ['', '[]', 'null', '{']) match(flawOf(text), /must be a list of prices in JSON/)
  })
})

test('any file is read without throwing', () => {
  const price = fc.dictionary(
    fc.constantFrom(
      'litellm_provider',
      'input_cost_per_token',
      'output_cost_per_token',
      'input',
      'output',
      'tiers',
      'above',
    ),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const content = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .dictionary(
        fc.constantFrom('prices', 'date', 'a/b', 'gpt'),
        fc.oneof(price, fc.dictionary(fc.string(), price)),
      )
      .map(all => JSON.stringify(all)),
  )
  fc.assert(fc.property(content, text => void priceList(text)))
})
