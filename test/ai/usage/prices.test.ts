import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { priceRows } from '../../../src/ai/usage/price-rows.ts'
import { PriceTable, pricedModels } from '../../../src/ai/usage/prices.ts'
import { noTokens, type Usage } from '../../../src/ai/usage/usage.ts'
import { type PriceConfig, providerNames } from '../../../src/config/model/config.ts'

function tokens(tokensIn: number | null, tokensOut: number | null, more: Partial<Usage> = {}): Usage {
  return { ...noTokens, model: null, tokensIn, tokensOut, ...more }
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
    ['anthropic', 'claude-haiku-4-5', { cacheRead: 1_000_000 }, 0.1],
    ['anthropic', 'claude-haiku-4-5', { cacheWritten: 1_000_000 }, 1.25],
    ['anthropic', 'claude-haiku-4-5', { cacheWritten: 1_000_000, cacheWrittenLong: 1_000_000 }, 2],
    [
      'anthropic',
      'claude-haiku-4-5',
      { cacheRead: 500_000, cacheWritten: 300_000, cacheWrittenLong: 100_000 },
      0.7,
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
    ['anthropic', 'claude-opus-4-20250514', 15],
    ['anthropic', 'claude-opus-4-1-20250805', 15],
    ['anthropic', 'claude-opus-4-5@20251101', 5],
    ['anthropic', 'claude-3-5-haiku-latest', 0.8],
    ['google-ai-studio', 'gemini-2.0-flash-001', 0.1],
    ['google-ai-studio', 'models/gemini-2.0-flash-001', 0.1],
    ['azure-openai', 'gpt-4o', 2.5],
    ['azure-openai', 'GPT-4o-2024-08-06', 2.5],
    ['aws-bedrock', 'us.anthropic.claude-3-5-haiku-20241022-v1:0', 0.8],
    [
      'aws-bedrock',
      'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0',
      15,
    ],
    ['google-vertex-ai', 'google/gemini-2.5-flash', 0.3],
    ['google-vertex-ai', 'anthropic/claude-opus-4-1@20250805', 15],
    ['google-vertex-ai', 'claude-haiku-4-5@20251001', 1],
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
    ['azure-openai', 'my-deployment'],
    ['openai', 'ft:gpt-4o-2024-08-06:org::id'],
    ['ollama', 'llama3.2'],
    ['openai', null],
  ] as const
  for (const [provider, model] of unknown) {
    test(`is not known for ${provider} ${model}`, () => {
      equal(table.costOf(provider, model, tokens(1, 1)), null)
    })
  }

  test('is found at once for a long name that repeats what marks a fine-tuned model', () => {
    const { user } = process.threadCpuUsage()
    equal(table.costOf('openai', `${'/ft:x:'.repeat(16_000)}\n`, tokens(1, 1)), null)
    const spent = (process.threadCpuUsage().user - user) / 1_000
    ok(spent < 100, `${spent} ms`)
  })

  test('is that of its provider, after a call to a model of the same name at another one', () => {
    const table = new PriceTable([price('custom-a/m', 1), price('custom-b/m', 2)])
    const costs = ['custom-a', 'custom-b', 'custom-c', 'custom-a'].map(provider =>
      table.costOf(provider, 'm', tokens(1_000_000, 0)),
    )
    deepEqual(costs, [1, 2, null, 1])
  })

  test('is unknown where nobody names a model, whatever the call before it was', () => {
    const table = new PriceTable([price('openai/*', 3)])
    equal(table.costOf('openai', 'gpt-4o', tokens(1_000_000, 0)), 3)
    equal(table.costOf('openai', null, tokens(1_000_000, 0)), null)
  })

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

describe('what else a call costs', () => {
  const table = new PriceTable([])
  const million = 1_000_000

  test('is that of the model that the response names, where the name in the request has no price', () => {
    const usage = tokens(million, 0, { model: 'gpt-4o-2024-08-06' })
    equal(table.costOf('azure-openai', 'my-deployment', usage), 2.5)
    equal(table.costOf('azure-openai', null, usage), 2.5)
    equal(table.costOf('openai', 'gpt-4', usage), 30)
    equal(table.costOf('ollama', 'llama3.2', usage), null)
    equal(table.costOf('azure-openai', 'mine', tokens(million, 0, { model: 'mine' })), null)
    const nulls = new PriceTable([price('azure-openai/null', 3)])
    equal(nulls.costOf('azure-openai', 'mine', tokens(million, 0)), null)
  })

  test('follows the length of its input', () => {
    const costOf = (tokensIn: number) => table.costOf('anthropic', 'claude-sonnet-4-5', tokens(tokensIn, 0))
    equal(costOf(200_000), 0.6)
    equal(costOf(200_001), 1.200006)
    equal(table.costOf('google-ai-studio', 'gemini-2.5-pro', tokens(million, million)), 17.5)
    const cached = tokens(million, 0, { cacheRead: million })
    equal(table.costOf('anthropic', 'claude-sonnet-4-5-20250929', cached), 0.6)
  })

  test('follows the tier of service, and is unknown where the price of that is', () => {
    const costOf = (provider: string, model: string, tier: string | null) =>
      table.costOf(provider, model, tokens(million, 0, { tier }))
    for (const tier of [null, 'default', 'standard', 'auto']) equal(costOf('openai', 'gpt-5', tier), 1.25)
    equal(costOf('openai', 'gpt-5', 'flex'), 0.625)
    equal(costOf('openai', 'gpt-5-2025-08-07', 'priority'), 2.5)
    equal(costOf('openai', 'gpt-5', 'batch'), 0.625)
    equal(costOf('anthropic', 'claude-haiku-4-5', 'batch'), 0.5)
    equal(costOf('anthropic', 'claude-haiku-4-5', 'priority'), null)
    equal(costOf('anthropic', 'claude-haiku-4-5', 'speed:fast'), 2)
    equal(costOf('anthropic', 'claude-haiku-4-5', 'geo:us'), 1.1)
    equal(costOf('openai', 'gpt-4', 'flex'), null)
    equal(costOf('openai', 'gpt-5', 'constructor'), null)
    equal(
      new PriceTable([price('openai/gpt-5', 3)]).costOf(
        'openai',
        'gpt-5',
        tokens(million, 0, { tier: 'flex' }),
      ),
      3,
    )
  })

  test('has advice at the price of the model that gave it', () => {
    const advice = (model: string) => [{ ...noTokens, tokensIn: million, tokensOut: 0, model }]
    const costOf = (model: string) =>
      table.costOf('anthropic', 'claude-haiku-4-5', tokens(3 * million, 0, { advice: advice(model) }))
    equal(costOf('claude-opus-4-5'), 2 + 5)
    equal(costOf('unknown'), null)
    const own = new PriceTable([price('anthropic/claude-opus-4-5', 5)])
    const sound = { ...advice('claude-opus-4-5')[0]!, audioIn: 1 }
    equal(own.costOf('anthropic', 'claude-haiku-4-5', tokens(3 * million, 0, { advice: [sound] })), null)
  })

  test('has the fee of searches, and is unknown where that is', () => {
    equal(table.costOf('anthropic', 'claude-haiku-4-5', tokens(million, 0, { searches: 3 })), 1.03)
    equal(table.costOf('openai', 'gpt-4o', tokens(million, 0, { searches: 3 })), null)
    equal(
      new PriceTable([price('openai/*', 3)]).costOf('openai', 'x', tokens(million, 0, { searches: 3 })),
      3,
    )
  })

  test('is what OpenRouter says, zero too, unless an operator has a price', () => {
    equal(table.costOf('openrouter', 'any/model', tokens(million, 0, { cost: 0.25 })), 0.25)
    equal(table.costOf('openrouter', 'any/free', tokens(million, 0, { cost: 0 })), 0)
    equal(table.costOf('openrouter', null, tokens(null, null, { cost: 0.25 })), 0.25)
    equal(table.costOf('openrouter', 'any/model', tokens(million, 0)), null)
    equal(table.costOf('openai', 'gpt-4o', tokens(million, 0, { cost: 0.25 })), 2.5)
    const own = new PriceTable([price('openrouter/*', 3)])
    equal(own.costOf('openrouter', 'any/model', tokens(million, 0, { cost: 0.25 })), 3)
  })

  test('is unknown for sound whose price is', () => {
    equal(table.costOf('openai', 'gpt-4o', tokens(million, 0, { audioIn: 1 })), null)
    equal(table.costOf('openai', 'gpt-4o', tokens(0, million, { audioOut: 1 })), null)
    const own = new PriceTable([price('openai/*', 3)])
    equal(own.costOf('openai', 'gpt-4o', tokens(million, 0, { audioIn: 1 })), 3)
  })
})

describe('a list', () => {
  const million = 1_000_000
  const rates = { input: 1, output: 2, cacheRead: null, cacheWrite: null, cacheWriteLong: null }
  const listed = {
    model: 'xai/grok-4',
    rates: { ...rates, audioIn: 10, audioOut: 20 },
    long: null,
    tiers: { flex: { ...rates, audioIn: null, audioOut: null, input: 0.5 } },
    search: 0.5,
  }
  const table = new PriceTable([price('openai/o3', 7)], { date: '2026-11-01', prices: [listed] })

  test('takes the place of the prices that come with Gatehouse', () => {
    equal(table.costOf('openai', 'gpt-4o', tokens(1, 1)), null)
    equal(table.costOf('openai', 'o3', tokens(million, 0)), 7)
  })

  test('has the models of a provider that an operator added by its name', () => {
    equal(table.costOf('custom-xai', 'grok-4', tokens(million, million, { searches: 2 })), 4)
    equal(table.costOf('custom-xai', 'grok-4', tokens(million, 0, { tier: 'flex' })), 0.5)
    equal(
      table.costOf('custom-xai', 'grok-4', tokens(million, million, { audioIn: 500_000, audioOut: 250_000 })),
      12,
    )
    equal(table.costOf('custom-other', 'grok-4', tokens(million, 0)), null)
    equal(table.costOf('unknownxai', 'grok-4', tokens(million, 0)), null)
  })

  test('has the price of a model at a provider before that of its publisher', () => {
    const atCloud = { ...listed, model: 'custom-xai/grok-4', rates: { ...listed.rates, input: 3 } }
    const both = new PriceTable([], { date: '2026-11-01', prices: [listed, atCloud] })
    equal(both.costOf('custom-xai', 'grok-4', tokens(million, 0)), 3)
    equal(both.costOf('xai', 'grok-4', tokens(million, 0)), 1)
  })

  test('names the models that have a price, those of the operator first', () => {
    const list = { date: '2026-11-01', prices: [listed, { ...listed, model: 'openai/o3' }] }
    deepEqual(pricedModels([price('openai/o3', 7)], list), ['openai/o3', 'xai/grok-4'])
    ok(pricedModels([], null).includes('openai/gpt-4o'))
  })

  test('has cached input at the price of other input, in a premium too, where it names none', () => {
    const cached = tokens(million, 0, { cacheRead: million, tier: 'geo:us' })
    equal(table.costOf('xai', 'grok-4', cached), 1.1)
  })
})
