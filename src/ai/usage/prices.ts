// The cost of a call, from the configuration, the price list, or the price rows.

import { memoizeEach, memoizeLast } from '../../base/memo.ts'
import type { PriceConfig } from '../../config/model/config.ts'
import type { ListedPrice, PriceList, Rates } from '../../config/model/price-config.ts'
import {
  type CacheFactors,
  cacheFactors,
  longRows,
  premiums,
  type PriceRow,
  priceRows,
  reportsCost,
  searchPrices,
  tierFactors,
  tierRows,
} from './price-rows.ts'
import { nanodollarsOf } from '../../base/units.ts'
import type { Usage } from './usage.ts'
import type { Advice } from './usage-member.ts'

/** The most that a call may use, of what its price depends on. */
export interface WorstUsage {
  readonly tokensIn: number
  readonly tokensOut: number
  /** Of these, what may be sound. */
  readonly audioIn: number
  readonly audioOut: number
  readonly searches: number
  /** Whether input may be written to a cache, and stay there for an hour. */
  readonly cacheWrites: 'none' | 'short' | 'long'
  /** As requested; null if the provider may choose. */
  readonly tier: string | null
}

/** An operator's own price is the same for every call. */
interface Price extends Omit<ListedPrice, 'model'> {
  readonly isOwn: boolean
}

export class PriceTable {
  readonly #listed = new Map<string, Price>()
  readonly #overrides = new Map<string, Price>()
  /** Those that end with a star, without it; longest first. */
  readonly #beginnings: readonly { readonly model: string; readonly price: Price }[]
  #last: { readonly provider: string; readonly model: string; readonly price: Price | null } | null = null
  readonly #reported = memoizeLast((name: string) => this.#find(name))

  /** Without a list, the price rows are used. */
  constructor(overrides: readonly PriceConfig[], list: PriceList | null = null) {
    for (const { model, ...price } of list?.prices ?? ownRows())
      this.#listed.set(model, { ...price, isOwn: false })
    for (const override of overrides) this.#overrides.set(override.model, configured(override))
    this.#beginnings = overrides
      .filter(({ model }) => model.endsWith('*'))
      .map(override => ({ price: configured(override), model: override.model.slice(0, -1) }))
      .sort((a, b) => b.model.length - a.model.length)
  }

  /** US dollars; null if a price is unknown, or tokens were not counted. */
  costOf(provider: string, model: string | null, usage: Usage): number | null {
    const price = this.#priceOf(provider, model, usage)
    if (price?.isOwn !== true && usage.cost !== null && reportsCost.has(provider)) return rounded(usage.cost)
    if (price === null || (usage.tokensIn === null && usage.tokensOut === null)) return null
    const rates = price.isOwn ? price.rates : ratesFor(price, provider, usage)
    const fee = usage.searches === 0 || price.isOwn ? 0 : (price.search ?? searchPrices[provider] ?? null)
    const dollars = rates === null || fee === null ? null : costAt(rates, usage)
    if (dollars === null) return null
    const further = usage.advice === undefined ? 0 : this.#furtherCost(provider, rates!, usage.advice)
    return further === null ? null : rounded(dollars + further + usage.searches * fee!)
  }

  /** By how much advice costs more than at the rates of the model that was advised. */
  #furtherCost(provider: string, rates: Rates, advice: readonly Advice[]): number | null {
    let sum = 0
    for (const used of advice) {
      const own = this.costOf(provider, used.model, used)
      const counted = costAt(rates, used)
      if (own === null || counted === null) return null
      sum += own - counted
    }
    return sum
  }

  /** Whole nanodollars, rounded up, at the highest rates that may apply; null if one of them is unknown. */
  worstCost(provider: string, model: string | null, worst: WorstUsage): number | null {
    const price = this.#priceOf(provider, model, null)
    if (price === null) return null
    const fee = worst.searches === 0 || price.isOwn ? 0 : (price.search ?? searchPrices[provider] ?? null)
    if (fee === null) return null
    let dearest = 0
    for (const rates of possibleRates(price, worst)) {
      const dollars = worstAt(rates, worst)
      if (dollars === null) return null
      dearest = Math.max(dearest, dollars)
    }
    return nanodollarsOf(dearest + worst.searches * fee + inaccuracy)
  }

  /** By the requested name, and else as the response names the model: a deployment may have any name. */
  #priceOf(provider: string, model: string | null, usage: Usage | null): Price | null {
    if (model !== null && (this.#last?.model !== model || this.#last.provider !== provider))
      this.#last = { provider, model, price: this.#find(`${provider}/${model}`) }
    const price = model === null ? null : this.#last!.price
    if (price !== null) return price
    const reported = usage?.model ?? null
    return reported === null ? null : this.#reported(`${provider}/${reported}`)
  }

  /** The configuration takes precedence over the list, and in both the full name over a prefix. */
  #find(name: string): Price | null {
    const own =
      this.#overrides.get(name) ?? this.#beginnings.find(({ model }) => name.startsWith(model))?.price
    return own ?? this.#findListed(name) ?? this.#findListed(familyOf(name))
  }

  #findListed(name: string): Price | null {
    const plain = name.replace('/models/', '/').replace(fineTuned, '$1')
    return this.#listed.get(plain) ?? this.#listed.get(plain.replace(version, '')) ?? null
  }
}

/** Prices at a cloud are those of the publisher of the model; a custom provider has a base of its own. */
function familyOf(name: string): string {
  if (name.startsWith(azure)) return `openai/${name.slice(azure.length).toLowerCase()}`
  const [, claude] = claudeOfBedrock.exec(name) ?? []
  if (claude !== undefined) return `anthropic/${claude}`
  if (name.startsWith(vertex))
    return publishedName(name.slice(vertex.length).replace(/^(?:google|anthropic)\//, ''))
  return name.startsWith(custom) ? name.slice(custom.length) : name
}

function publishedName(model: string): string {
  return `${model.startsWith('claude') ? 'anthropic' : 'google-ai-studio'}/${model}`
}

/** As in us.anthropic.claude-sonnet-4-5-20250929-v1:0, and in the ARN of an inference profile. */
const claudeOfBedrock = /^aws-bedrock\/.*\banthropic\.(claude-[\w-]+?)(?:-v\d+(?::\d+)?)?$/

const vertex = 'google-vertex-ai/'
const azure = 'azure-openai/'
const custom = 'custom-'

/** Such as -2024-08-06, @20250929, -001 or -latest. */
const version = /(?:[-@]\d{3,8}(?:-\d\d){0,2}|-latest)$/
/** The first part has a price: ft:gpt-4o-2024-08-06:org::id. */
const fineTuned = /(\/ft:[^:]+):.*$/s

const usualTiers: ReadonlySet<string | null> = new Set([null, 'default', 'standard', 'auto', 'on_demand'])

function ratesFor({ rates, long, tiers }: Price, provider: string, usage: Usage): Rates | null {
  const usual = long !== null && (usage.tokensIn ?? 0) > long.above ? long.rates : rates
  const { tier } = usage
  if (usualTiers.has(tier)) return usual
  if (Object.hasOwn(tiers, tier!)) return tiers[tier!]!
  const premium = premiums.get(tier)
  if (premium !== undefined) return scaled(usual, premium)
  const factors = tierFactors[provider]
  return factors !== undefined && Object.hasOwn(factors, tier!) ? scaled(usual, factors[tier!]!) : null
}

/** US dollars by which sums of the same amounts may differ: the worst case is never less than the cost. */
const inaccuracy = 0.25e-12

/** A provider may give a call another tier than the one that it asks for, but none that is dearer. */
function possibleRates(price: Price, { tokensIn, tier }: WorstUsage): readonly Rates[] {
  const { usual, long, others } = ratesByTier(price)
  const isLong = long !== null && tokensIn > price.long!.above
  const premium = price.isOwn ? undefined : premiums.get(tier)
  if (premium !== undefined) return (isLong ? long.others : others).map(rates => scaled(rates, premium))
  if (usualTiers.has(tier) && tier !== null && tier !== 'auto') return isLong ? long.usual : usual
  if (tier !== null && Object.hasOwn(price.tiers, tier))
    return [...(isLong ? long.usual : usual), price.tiers[tier]!]
  return isLong ? long.others : others
}

interface RatesByTier {
  readonly usual: readonly Rates[]
  readonly others: readonly Rates[]
  readonly long: Omit<RatesByTier, 'long'> | null
}

const ratesByTier = memoizeEach(({ rates, long, tiers }: Price): RatesByTier => {
  const withTiers = (usual: readonly Rates[]) => ({ usual, others: [...usual, ...Object.values(tiers)] })
  return { ...withTiers([rates]), long: long === null ? null : withTiers([rates, long.rates]) }
})

/** US dollars; null if the rate of a part is unknown. */
function worstAt(rates: Rates, worst: WorstUsage): number | null {
  const { tokensIn, tokensOut, audioIn, audioOut, cacheWrites } = worst
  if ((audioIn > 0 && rates.audioIn === null) || (audioOut > 0 && rates.audioOut === null)) return null
  const { input, output } = rates
  const write = cacheWrites === 'none' ? 0 : (rates.cacheWrite ?? input)
  const writeLong = cacheWrites === 'long' ? (rates.cacheWriteLong ?? write) : 0
  const read = Math.max(input, rates.cacheRead ?? 0, write, writeLong)
  const ofSound = Math.max(read, rates.audioIn ?? 0)
  const millionths =
    Math.max(0, tokensIn - audioIn) * read +
    audioIn * ofSound +
    Math.max(0, tokensOut - audioOut) * output +
    audioOut * Math.max(output, rates.audioOut ?? 0)
  return millionths / 1e6
}

function costAt(rates: Rates, usage: Usage): number | null {
  const { cacheRead, cacheWritten, cacheWrittenLong, audioIn, audioOut } = usage
  if ((audioIn > 0 && rates.audioIn === null) || (audioOut > 0 && rates.audioOut === null)) return null
  const { input, output } = rates
  const write = rates.cacheWrite ?? input
  const millionths =
    Math.max(0, (usage.tokensIn ?? 0) - cacheRead - cacheWritten - audioIn) * input +
    cacheRead * (rates.cacheRead ?? input) +
    Math.max(0, cacheWritten - cacheWrittenLong) * write +
    cacheWrittenLong * (rates.cacheWriteLong ?? write) +
    audioIn * (rates.audioIn ?? input) +
    Math.max(0, (usage.tokensOut ?? 0) - audioOut) * output +
    audioOut * (rates.audioOut ?? output)
  return millionths / 1e6
}

function rounded(dollars: number): number {
  return Math.round(dollars * 1e12) / 1e12
}

function scaled(rates: Rates, factor: number): Rates {
  const entries = Object.entries(rates).map(([name, rate]) => [name, rate === null ? null : rate * factor])
  return Object.fromEntries(entries) as Rates
}

/** As provider/model, those of the configuration first; a * at the end stands for any rest. */
export function pricedModels(overrides: readonly PriceConfig[], list: PriceList | null): readonly string[] {
  return [...new Set([...overrides, ...(list?.prices ?? ownRows())].map(({ model }) => model))]
}

function ownRows(): readonly ListedPrice[] {
  return Object.entries(priceRows).flatMap(([provider, models]) =>
    Object.entries(models).map(([name, row]): ListedPrice => {
      const model = `${provider}/${name}`
      const ratesOfRow = (row: PriceRow) => listed(row, cacheFactors[provider])
      const long = longRows[model]
      const tiers = Object.entries(tierRows[model] ?? {}).map(([tier, row]) => [tier, ratesOfRow(row)])
      return {
        model,
        rates: ratesOfRow(row),
        long: long === undefined ? null : { above: long.above, rates: ratesOfRow(long.row) },
        tiers: Object.fromEntries(tiers),
        search: null,
      }
    }),
  )
}

function listed([input, output, cacheRead]: PriceRow, factors: CacheFactors = noCache): Rates {
  return {
    input,
    output,
    cacheRead: cacheRead ?? input * factors.read,
    cacheWrite: input * factors.write,
    cacheWriteLong: input * factors.writeLong,
    audioIn: null,
    audioOut: null,
  }
}

const noCache: CacheFactors = { read: 1, write: 1, writeLong: 1 }

function configured({ model: _, input, output, ...caches }: PriceConfig): Price {
  const rates = { input, output, ...caches, audioIn: input, audioOut: output }
  return { rates, long: null, tiers: {}, search: null, isOwn: true }
}
