import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { priceRows } from '../../../src/ai/usage/price-rows.ts'
import { PriceTable } from '../../../src/ai/usage/prices.ts'
import { noTokens } from '../../../src/ai/usage/usage.ts'
import type { Tokens } from '../../../src/ai/usage/member.ts'
import { type PriceConfig, providerNames } from '../../../src/config/config.ts'

function tokens(tokensIn: number | null, tokensOut: number | null, cache: Partial<Tokens> = {}): Tokens {
  return { ...noTokens, tokensIn, tokensOut, ...cache }
}

function price(model: string, input: number, more: Partial<PriceConfig> = {}): PriceConfig {
  return { model, input, output: 0, cacheRead: null, cacheWrite: null, cacheWriteLong: null, ...more }
}

describe('the cost of a call', () => {
  const table = new PriceTable([])

  test('is that of its tokens at the price of the model', () => {
    equal(table.costOf('openai', 'gpt-4o', tokens(1_000_000, 1_000_000)), 12.5)
    equal(table.costOf('openai', 'gpt-4o-mini', tokens(3, 1)), 0.00000105)
    equal(table.costOf('openai', 'text-embedding-3-small', tokens(1_000_000, null)), 0.02)
    equal(table.costOf('openai', 'gpt-4o', tokens(null, 100_000)), 1)
    equal(table.costOf('openai', 'gpt-4o', tokens(0, 0)), 0)
  })

  const cached = [
    ['openai', 'gpt-4o', { cacheRead: 1_000_000 }, 1.25],
    ['openai', 'gpt-5', { cacheRead: 400_000 }, 0.8],
    ['openai', 'gpt-4-turbo', { cacheRead: 1_000_000 }, 10],
    ['anthropic', 'claude-sonnet-4-5', { cacheRead: 1_000_000 }, 0.3],
    ['anthropic', 'claude-sonnet-4-5', { cacheWritten: 1_000_000 }, 3.75],
    ['anthropic', 'claude-sonnet-4-5', { cacheWritten: 1_000_000, cacheWrittenLong: 1_000_000 }, 6],
    [
      'anthropic',
      'claude-sonnet-4-5',
      { cacheRead: 500_000, cacheWritten: 300_000, cacheWrittenLong: 100_000 },
      2.1,
    ],
    ['google-ai-studio', 'gemini-2.5-flash', { cacheRead: 1_000_000 }, 0.03],
    ['deepseek', 'deepseek-chat', { cacheRead: 1_000_000 }, 0.028],
    // More than went in can't have come from a cache; what is said of it is still paid for.
    ['openai', 'gpt-4o', { cacheRead: 2_000_000 }, 2.5],
  ] as const
  for (const [provider, model, cache, dollars] of cached) {
    test(`differs for cached tokens: ${model} ${JSON.stringify(cache)}`, () => {
      equal(table.costOf(provider, model, tokens(1_000_000, 0, cache)), dollars)
    })
  }

  test('of cached tokens follows the configuration, and is usual where that does not say', () => {
    const table = new PriceTable([
      price('anthropic/claude-sonnet-4-5', 2),
      price('custom-a/x', 4, { cacheRead: 1, cacheWrite: 5 }),
      price('custom-b/*', 4, { cacheRead: 0, cacheWrite: 5, cacheWriteLong: 8 }),
    ])
    const cache = { cacheRead: 500_000, cacheWritten: 300_000, cacheWrittenLong: 100_000 }
    equal(table.costOf('anthropic', 'claude-sonnet-4-5', tokens(1_000_000, 0, cache)), 2)
    equal(table.costOf('custom-a', 'x', tokens(1_000_000, 0, cache)), 2.8)
    equal(table.costOf('custom-b', 'x', tokens(1_000_000, 0, cache)), 2.6)
  })

  const versions = [
    ['openai', 'gpt-4o-2024-08-06', 2.5],
    ['openai', 'gpt-4o-2024-05-13', 5],
    ['openai', 'gpt-3.5-turbo-0125', 0.5],
    ['anthropic', 'claude-sonnet-4-20250514', 3],
    ['anthropic', 'claude-opus-4-1-20250805', 15],
    ['anthropic', 'claude-opus-4-5@20251101', 5],
    ['anthropic', 'claude-3-5-haiku-latest', 0.8],
    ['google-ai-studio', 'gemini-2.0-flash-001', 0.1],
  ] as const
  for (const [provider, model, dollars] of versions) {
    test(`is known for the version ${model}`, () => {
      equal(table.costOf(provider, model, tokens(1_000_000, 0)), dollars)
    })
  }

  const unknown = [
    ['openai', 'gpt-4o-audio-preview'],
    ['openai', 'gpt-4-32k'],
    ['openai', 'gpt-4o-'],
    ['openai', 'gpt'],
    ['openai', 'constructor'],
    ['anthropic', 'gpt-4o'],
    ['anthropic', 'claude-opus-4-9'],
    ['azure-openai', 'gpt-4o'],
    ['ollama', 'llama3.2'],
    ['openai', null],
  ] as const
  for (const [provider, model] of unknown) {
    test(`is not known for ${provider} ${model}`, () => {
      equal(table.costOf(provider, model, tokens(1, 1)), null)
    })
  }

  test('is unknown where tokens were not counted', () => {
    equal(table.costOf('openai', 'gpt-4o', tokens(null, null)), null)
  })

  test('follows the configuration first, and there the longest name', () => {
    const table = new PriceTable([
      price('openai/*', 1),
      price('openai/gpt-*', 2),
      price('openai/gpt-4o', 3),
      price('custom-mine/x', 4),
    ])
    const priceOf = (provider: string, model: string) => table.costOf(provider, model, tokens(1_000_000, 0))
    equal(priceOf('openai', 'o3'), 1)
    equal(priceOf('openai', 'gpt-4'), 2)
    equal(priceOf('openai', 'gpt-4o'), 3)
    equal(priceOf('openai', 'gpt-4o-2024-08-06'), 2)
    equal(priceOf('custom-mine', 'x'), 4)
    equal(priceOf('custom-mine', 'xy'), null)
    equal(priceOf('anthropic', 'claude-3-haiku'), 0.25)
  })

  test('is listed for providers that exist', () => {
    for (const provider of Object.keys(priceRows)) ok(providerNames.some(name => name === provider))
  })
})
