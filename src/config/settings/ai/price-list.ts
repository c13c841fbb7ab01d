// Reads a price list: the public one of LiteLLM, or one in the form of `ai.prices`.

import { isObject } from '../../../base/text/json.ts'
import type { ListedPrice, PriceList, Rates } from '../../model/price-config.ts'
import { type Rule, type Shape, scalar } from '../../shape/shape.ts'

/** Reads a price list from a path. Its date is the one it states, or else that of the file. */
export const priceListFile: Shape<PriceList> = {
  read(tree, context) {
    const { findings, surroundings } = context
    const path = anyText.read(tree, context)
    if (path === undefined) return undefined
    try {
      const reading = priceList(surroundings.readFile(path))
      if ('flaw' in reading) return findings.flaw(tree, `names a file that ${reading.flaw}`)
      const date = reading.value.date ?? dayOf(surroundings.writtenAt?.(path) ?? null)
      return { ...reading.value, date }
    } catch (error) {
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException
      return findings.flaw(tree, `must be the path of a file that can be read (${code})`)
    }
  },
  form: () => anyText.form(),
}

const anyText = scalar(text => ({ value: text }))

function dayOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString().slice(0, 10)
}

/** Accepts the content of a price list. */
export const priceList: Rule<PriceList> = text => {
  const content = parse(text)
  if (!isObject(content))
    return { flaw: 'must be a list of prices in JSON, such as the public one of LiteLLM' }
  const list = isObject(content.prices) ? ownList(content, content.prices) : listOfLiteLlm(content)
  if (typeof list === 'string') return { flaw: `has a wrong price: ${list}` }
  return list.prices.length > 0 ? { value: list } : { flaw: 'must have the price of a model at least' }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const datePattern = /^\d{4}-\d\d-\d\d$/
const maxDollars = 1e6

/** Returns a list in our own form, or its flaw. */
function ownList(
  { date = null }: Record<string, unknown>,
  prices: Record<string, unknown>,
): PriceList | string {
  if (date !== null && (typeof date !== 'string' || !datePattern.test(date)))
    return 'date must be a date such as 2026-01-31'
  const listed: ListedPrice[] = []
  for (const [model, price] of Object.entries(prices)) {
    if (!/^[^/]+\/./.test(model)) return `${named(model)} must be PROVIDER/MODEL, such as openai/gpt-4o`
    const rates = ownRates(price)
    if (rates === null)
      return `${named(model)} must have input and output in US dollars from 0 to ${maxDollars}`
    const { search, above, tiers } = price as Record<string, unknown>
    const long = longOf(above)
    if (long === undefined) return `above of ${named(model)} must have tokens, input and output`
    const ofTiers = tiersOf(tiers)
    if (ofTiers === null) return `tiers of ${named(model)} must have input and output each`
    listed.push({ model, rates, long, tiers: ofTiers, search: dollars(search) })
  }
  return { date, prices: listed }
}

function named(model: string): string {
  return JSON.stringify(model.slice(0, 100))
}

function ownRates(price: unknown): Rates | null {
  if (!isObject(price)) return null
  const [input, output] = [dollars(price.input), dollars(price.output)]
  if (input === null || output === null) return null
  return {
    input,
    output,
    cacheRead: dollars(price.cache_read),
    cacheWrite: dollars(price.cache_write),
    cacheWriteLong: dollars(price.cache_write_1h),
    audioIn: dollars(price.audio_input),
    audioOut: dollars(price.audio_output),
  }
}

/** Returns the price of long contexts; undefined if invalid. */
function longOf(above: unknown): ListedPrice['long'] | undefined {
  if (above === undefined || above === null) return null
  const rates = ownRates(above)
  const { tokens } = isObject(above) ? above : { tokens: null }
  return rates !== null && typeof tokens === 'number' && tokens > 0 ? { above: tokens, rates } : undefined
}

function tiersOf(tiers: unknown): ListedPrice['tiers'] | null {
  if (tiers === undefined || tiers === null) return {}
  if (!isObject(tiers)) return null
  const byTier: Record<string, Rates> = {}
  for (const [tier, price] of Object.entries(tiers)) {
    const rates = ownRates(price)
    if (rates === null) return null
    byTier[tier] = rates
  }
  return byTier
}

/** Our names for its providers, where they differ. Others match a custom-NAME. */
const providers: Readonly<Record<string, string>> = { gemini: 'google-ai-studio', azure: 'azure-openai' }

/** Omits all without a price per token: the list has images, hours of video and much else. */
function listOfLiteLlm(content: Record<string, unknown>): PriceList {
  const prices: ListedPrice[] = []
  for (const [name, price] of Object.entries(content)) {
    if (name === 'sample_spec' || !isObject(price) || typeof price.litellm_provider !== 'string') continue
    const rates = ratesOf(price, '')
    if (rates === null) continue
    const { by, model } = modelOfLiteLlm(price.litellm_provider, name)
    const tiers: Record<string, Rates> = {}
    for (const [tier, ending] of tierEndings) {
      const ofTier = ratesOf(price, ending)
      if (ofTier !== null) tiers[tier] = ofTier
    }
    prices.push({
      model: `${providers[by] ?? by}/${model}`,
      rates,
      long: longOfLiteLlm(price),
      tiers,
      search: searchOf(price.search_context_cost_per_query),
    })
  }
  return { date: null, prices }
}

/** Models of clouds are grouped by publisher or API there. */
function modelOfLiteLlm(by: string, name: string): { readonly by: string; readonly model: string } {
  if (by.startsWith('vertex_ai')) return { by: 'google-vertex-ai', model: name.replace(/^vertex_ai\//, '') }
  if (by.startsWith('bedrock'))
    return { by: 'aws-bedrock', model: name.replace(/^bedrock\/(?:converse\/)?/, '') }
  return { by, model: name.startsWith(`${by}/`) ? name.slice(by.length + 1) : name }
}

const tierEndings = [
  ['flex', '_flex'],
  ['priority', '_priority'],
  ['batch', '_batches'],
] as const

/** Reads the prices whose names have this ending; null for none. */
function ratesOf(price: Record<string, unknown>, ending: string): Rates | null {
  const input = ofToken(price[`input_cost_per_token${ending}`])
  const output = ofToken(price[`output_cost_per_token${ending}`]) ?? (price.mode === 'embedding' ? 0 : null)
  if (input === null || output === null) return null
  return {
    input,
    output,
    cacheRead: ofToken(price[`cache_read_input_token_cost${ending}`]),
    cacheWrite: ofToken(price[`cache_creation_input_token_cost${ending}`]),
    cacheWriteLong: ofToken(price[`cache_creation_input_token_cost_above_1hr${ending}`]),
    audioIn: ofToken(price[`input_cost_per_audio_token${ending}`]),
    audioOut: ofToken(price[`output_cost_per_audio_token${ending}`]),
  }
}

const longEnding = /^input_cost_per_token(_above_(\d{1,6})k_tokens)$/

function longOfLiteLlm(price: Record<string, unknown>): ListedPrice['long'] {
  for (const name of Object.keys(price)) {
    const [, ending, thousands] = longEnding.exec(name) ?? []
    const rates = ending === undefined ? null : ratesOf(price, ending)
    if (rates !== null) return { above: Number(thousands) * 1000, rates }
  }
  return null
}

function searchOf(price: unknown): number | null {
  return isObject(price) ? dollars(price.search_context_size_medium) : null
}

function ofToken(value: unknown): number | null {
  const price = dollars(value)
  // A price per token has digits that a float cannot represent.
  return price === null ? null : Math.round(price * 1e15) / 1e9
}

function dollars(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= maxDollars ? value : null
}
