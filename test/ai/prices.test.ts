import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { priceRows } from '../../src/ai/price-rows.ts'
import { PriceTable } from '../../src/ai/prices.ts'
import { providerNames } from '../../src/config/config.ts'

describe('the cost of a call', () => {
  const table = new PriceTable([])

  test('is that of its tokens at the price of the model', () => {
    equal(table.costOf('openai', 'gpt-4o', 1_000_000, 1_000_000), 12.5)
    equal(table.costOf('openai', 'gpt-4o-mini', 3, 1), 0.00000105)
    equal(table.costOf('openai', 'text-embedding-3-small', 1_000_000, null), 0.02)
    equal(table.costOf('openai', 'gpt-4o', null, 100_000), 1)
    equal(table.costOf('openai', 'gpt-4o', 0, 0), 0)
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
      equal(table.costOf(provider, model, 1_000_000, 0), dollars)
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
      equal(table.costOf(provider, model, 1, 1), null)
    })
  }

  test('is not known where nobody counted tokens', () => {
    equal(table.costOf('openai', 'gpt-4o', null, null), null)
  })

  test('follows the configuration first, and there the longest name', () => {
    const table = new PriceTable([
      { model: 'openai/*', input: 1, output: 0 },
      { model: 'openai/gpt-*', input: 2, output: 0 },
      { model: 'openai/gpt-4o', input: 3, output: 0 },
      { model: 'custom-mine/x', input: 4, output: 0 },
    ])
    const priceOf = (provider: string, model: string) => table.costOf(provider, model, 1_000_000, 0)
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
