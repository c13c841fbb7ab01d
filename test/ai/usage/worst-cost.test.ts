import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { PriceTable, pricedModels, type WorstUsage } from '../../../src/ai/usage/prices.ts'
import { noTokens, type Usage } from '../../../src/ai/usage/usage.ts'
import { nanodollarsOf } from '../../../src/base/units.ts'
import type { PriceConfig } from '../../../src/config/model/config.ts'
import type { ListedPrice, Rates } from '../../../src/config/model/price-config.ts'

const million = 1_000_000

function worst(tokensIn: number, tokensOut: number, more: Partial<WorstUsage> = {}): WorstUsage {
  const rest = { audioIn: 0, audioOut: 0, searches: 0, cacheWrites: 'none', tier: 'default' } as const
  return { ...rest, tokensIn, tokensOut, ...more }
}

describe('the dearest cost of a call', () => {
  const table = new PriceTable([])
  const cases = [
    ['openai', 'gpt-4o', worst(million, million), 12.5],
    ['openai', 'gpt-4o-2024-08-06', worst(0, 1), 0.00001],
    ['openai', 'text-embedding-3-small', worst(million, 0), 0.02],
    // Only the provider knows which tier an account has by default.
    ['openai', 'gpt-4o', worst(million, million, { tier: null }), 21.25],
    ['openai', 'gpt-4o', worst(million, million, { tier: 'auto' }), 21.25],
    ['openai', 'gpt-4o', worst(million, million, { tier: 'priority' }), 21.25],
    ['openai', 'gpt-5', worst(million, 0, { tier: 'flex' }), 1.25],
    ['openai', 'gpt-5', worst(million, 0, { tier: 'unknown' }), 2.5],
    ['anthropic', 'claude-haiku-4-5', worst(million, 0), 1],
    ['anthropic', 'claude-haiku-4-5', worst(million, 0, { cacheWrites: 'short' }), 1.25],
    ['anthropic', 'claude-haiku-4-5', worst(million, 0, { cacheWrites: 'long' }), 2],
    ['anthropic', 'claude-sonnet-4-5', worst(200_000, 0), 0.6],
    ['anthropic', 'claude-sonnet-4-5', worst(200_001, 0), 1.200006],
    ['anthropic', 'claude-sonnet-4-5', worst(200_001, 0, { tier: null }), 1.200006],
    ['anthropic', 'claude-sonnet-4-5', worst(200_001, 0, { tier: 'geo:us' }), 1.3200066],
    ['anthropic', 'claude-haiku-4-5', worst(0, 0, { searches: 3 }), 0.03],
    ['anthropic', 'claude-haiku-4-5', worst(million, million, { tier: 'speed:fast' }), 12],
    ['anthropic', 'claude-haiku-4-5', worst(million, 0, { tier: 'geo:us' }), 1.1],
    ['openai', 'gpt-4o', worst(0, 0, { searches: 1 }), null],
    ['openai', 'gpt-4o', worst(1, 0, { audioIn: 1 }), null],
    ['openai', 'gpt-4o', worst(0, 1, { audioOut: 1 }), null],
    ['ollama', 'llama3.2', worst(1, 1), null],
    ['openai', null, worst(1, 1), null],
  ] as const
  for (const [provider, model, usage, dollars] of cases) {
    test(`is ${dollars} for ${provider} ${model} ${JSON.stringify(usage)}`, () => {
      equal(table.worstCost(provider, model, usage), dollars === null ? null : Math.round(dollars * 1e9))
    })
  }

  test('is unknown where nobody names a model, also where all of a provider have a price', () => {
    const any = new PriceTable([own('openai/*', { input: 3 })])
    equal(any.worstCost('openai', 'any', worst(million, 0)), 3e9)
    equal(any.worstCost('openai', null, worst(million, 0)), null)
  })

  test('is rounded up to whole nanodollars', () => {
    equal(new PriceTable([]).worstCost('openai', 'gpt-4o-mini', worst(1, 0)), 150)
    const cheap = new PriceTable([own('openai/cheap', { input: 0.0001 })])
    equal(cheap.worstCost('openai', 'cheap', worst(1, 0)), 1)
    equal(cheap.worstCost('openai', 'cheap', worst(10, 0)), 1)
    equal(cheap.worstCost('openai', 'cheap', worst(11, 0)), 2)
    equal(nanodollarsOf(0.1 + 0.2), 300_000_000)
  })

  test('stays a safe integer', () => {
    const huge = Number.MAX_SAFE_INTEGER
    equal(table.worstCost('openai', 'gpt-4', worst(huge, huge)), huge)
  })

  test("is that of the operator's own price, whatever the tier", () => {
    const table = new PriceTable([own('openai/gpt-4o', { input: 3, cacheWriteLong: 9 })])
    equal(table.worstCost('openai', 'gpt-4o', worst(million, 0, { tier: null, searches: 4 })), 3e9)
    equal(table.worstCost('openai', 'gpt-4o', worst(million, 0, { cacheWrites: 'long' })), 9e9)
    equal(table.worstCost('openai', 'gpt-4o', worst(million, 0, { audioIn: million })), 3e9)
    equal(table.worstCost('openai', 'gpt-4o', worst(million, 0, { tier: 'speed:fast' })), 3e9)
  })

  test('has each token in the dearest way that it may be used', () => {
    const rates = { input: 1, output: 2, cacheRead: 5, cacheWrite: null, cacheWriteLong: null }
    const listed: ListedPrice = {
      model: 'xai/grok-4',
      rates: { ...rates, audioIn: 10, audioOut: 20 },
      long: { above: 100, rates: { ...rates, input: 7, audioIn: 3, audioOut: 1 } },
      tiers: { flex: { ...rates, cacheRead: null, audioIn: null, audioOut: null } },
      search: null,
    }
    const table = new PriceTable([], { date: null, prices: [listed] })
    equal(table.worstCost('xai', 'grok-4', worst(100, 0)), 500_000)
    equal(table.worstCost('xai', 'grok-4', worst(101, 0)), 707_000)
    equal(table.worstCost('xai', 'grok-4', worst(100, 0, { tier: 'flex' })), 500_000)
    equal(table.worstCost('xai', 'grok-4', worst(101, 0, { tier: 'flex' })), 707_000)
    const sound = worst(100, 100, { audioIn: 50, audioOut: 50 })
    equal(table.worstCost('xai', 'grok-4', sound), (50 * 5 + 50 * 10 + 50 * 2 + 50 * 20) * 1_000)
  })
})

function own(model: string, more: Partial<PriceConfig>): PriceConfig {
  return { model, input: 0, output: 0, cacheRead: null, cacheWrite: null, cacheWriteLong: null, ...more }
}

const tiers = [null, 'auto', 'default', 'standard', 'on_demand', 'flex', 'priority', 'batch'] as const
/** A response has one only if the request asks for it. */
const premiums = ['speed:fast', 'geo:us', 'speed:fast geo:us'] as const

const usedAtMost = fc
  .record({
    tokensIn: fc.oneof(fc.nat(1000), fc.integer({ min: 199_000, max: 201_000 }), fc.nat(10_000_000)),
    tokensOut: fc.nat(1_000_000),
    parts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 }),
    searches: fc.nat(20),
    tier: fc.constantFrom(...tiers, ...premiums),
    given: fc.constantFrom(...tiers),
    cacheWrites: fc.constantFrom('none', 'short', 'long'),
    hasSound: fc.boolean(),
  })
  .map(({ tokensIn, tokensOut, parts, searches, tier, given, cacheWrites, hasSound }) => {
    const limits: WorstUsage = {
      tokensIn,
      tokensOut,
      audioIn: hasSound ? tokensIn : 0,
      audioOut: hasSound ? tokensOut : 0,
      searches,
      cacheWrites,
      tier,
    }
    const part = (of: number, i: number) => Math.floor(of * parts[i]!)
    const went = part(tokensIn, 0)
    const cacheRead = part(went, 1)
    const cacheWritten = cacheWrites === 'none' ? 0 : part(went - cacheRead, 2)
    const came = part(tokensOut, 5)
    const isChosen = tier === null || tier === 'auto'
    const usage: Usage = {
      ...noTokens,
      model: null,
      tokensIn: went,
      tokensOut: came,
      cacheRead,
      cacheWritten,
      cacheWrittenLong: cacheWrites === 'long' ? part(cacheWritten, 3) : 0,
      audioIn: hasSound ? part(went - cacheRead - cacheWritten, 4) : 0,
      audioOut: hasSound ? part(came, 6) : 0,
      searches: part(searches, 7),
      tier: isChosen ? given : usualTier(given) ? given : tier,
    }
    return { limits, usage }
  })

function usualTier(tier: (typeof tiers)[number]): boolean {
  return tier === null || tier === 'default' || tier === 'standard'
}

function propertyOf(name: string, table: PriceTable, models: readonly string[]): void {
  test(`is never less than the cost: ${name}`, () => {
    const anyModel = fc.constantFrom(...models.map(model => model.replace('*', '-x')))
    fc.assert(
      fc.property(anyModel, usedAtMost, (name, { limits, usage }) => {
        const [provider, ...rest] = name.split('/')
        const model = rest.join('/')
        const dearest = table.worstCost(provider!, model, limits)
        const cost = table.costOf(provider!, model, usage)
        // Where a part has no known price, the call may still not have used that part.
        if (dearest !== null && cost !== null) ok(nanodollarsOf(cost) <= dearest)
        if (dearest !== null) ok(cost !== null || usage.tier !== null, 'the cost is unknown')
      }),
      { numRuns: 2000 },
    )
  })
}

describe('the dearest cost', () => {
  propertyOf('of the price rows', new PriceTable([]), pricedModels([], null))

  const anyRate = (seed: number) => (seed % 7 === 0 ? null : ((seed * 7919) % 1000) / 37)
  const rates = (seed: number): Rates => ({
    input: anyRate(seed) ?? 1,
    output: anyRate(seed + 1) ?? 2,
    cacheRead: anyRate(seed + 2),
    cacheWrite: anyRate(seed + 3),
    cacheWriteLong: anyRate(seed + 4),
    audioIn: anyRate(seed + 5),
    audioOut: anyRate(seed + 6),
  })
  const prices = Array.from(
    { length: 60 },
    (_, i): ListedPrice => ({
      model: `${['openai', 'anthropic', 'groq', 'custom-x'][i % 4]}/model ${i}`,
      rates: rates(i),
      long: i % 3 === 0 ? { above: 200_000, rates: rates(i + 100) } : null,
      tiers: i % 5 === 0 ? {} : { flex: rates(i + 200), priority: rates(i + 300) },
      search: anyRate(i + 8),
    }),
  )
  propertyOf(
    'of a list of any prices',
    new PriceTable([], { date: null, prices }),
    prices.map(({ model }) => model),
  )

  const configured = [own('openai/*', { input: 3, output: 9, cacheWrite: 4 }), own('mine/x', { input: 1 })]
  propertyOf('of a configuration', new PriceTable(configured), pricedModels(configured, null))
})
