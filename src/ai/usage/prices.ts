// The cost of a call, from the price rows and the configuration.

import type { PriceConfig } from '../../config/config.ts'
import { type CacheFactors, cacheFactors, type PriceRow, priceRows } from './price-rows.ts'
import type { Tokens } from './member.ts'

/** US dollars for a million tokens. */
interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWriteLong: number
}

export class PriceTable {
  /** By provider/model. */
  readonly #listed = new Map<string, Price>()
  readonly #overrides = new Map<string, Price>()
  /** Those that end with a star, without it; longest first. */
  readonly #beginnings: readonly { readonly model: string; readonly price: Price }[]
  /** The last lookup: mostly the next one is the same. */
  #last: { readonly provider: string; readonly model: string; readonly price: Price | null } | null = null

  constructor(overrides: readonly PriceConfig[]) {
    for (const [provider, models] of Object.entries(priceRows)) {
      for (const [model, row] of Object.entries(models))
        this.#listed.set(`${provider}/${model}`, listed(row, cacheFactors[provider]))
    }
    for (const override of overrides) this.#overrides.set(override.model, configured(override))
    this.#beginnings = overrides
      .filter(({ model }) => model.endsWith('*'))
      .map(override => ({ price: configured(override), model: override.model.slice(0, -1) }))
      .sort((a, b) => b.model.length - a.model.length)
  }

  /** Returns US dollars; null where the model is unknown, or tokens were not counted. */
  costOf(provider: string, model: string | null, tokens: Tokens): number | null {
    const { tokensIn, tokensOut, cacheRead, cacheWritten, cacheWrittenLong } = tokens
    if (model === null || (tokensIn === null && tokensOut === null)) return null
    const price = this.#priceOf(provider, model)
    if (price === null) return null
    const millionths =
      Math.max(0, (tokensIn ?? 0) - cacheRead - cacheWritten) * price.input +
      cacheRead * price.cacheRead +
      Math.max(0, cacheWritten - cacheWrittenLong) * price.cacheWrite +
      cacheWrittenLong * price.cacheWriteLong +
      (tokensOut ?? 0) * price.output
    return Math.round(millionths * 1e6) / 1e12
  }

  #priceOf(provider: string, model: string): Price | null {
    if (this.#last?.model !== model || this.#last.provider !== provider)
      this.#last = { provider, model, price: this.#find(`${provider}/${model}`) }
    return this.#last.price
  }

  /** The configuration takes precedence over the rows, and in both the whole name over a prefix. */
  #find(name: string): Price | null {
    return (
      this.#overrides.get(name) ??
      this.#beginnings.find(({ model }) => name.startsWith(model))?.price ??
      this.#listed.get(name) ??
      this.#listed.get(name.replace(version, '')) ??
      null
    )
  }
}

function listed([input, output, cacheRead]: PriceRow, factors: CacheFactors = noCache): Price {
  return {
    input,
    output,
    cacheRead: cacheRead ?? input * factors.read,
    cacheWrite: input * factors.write,
    cacheWriteLong: input * factors.writeLong,
  }
}

const noCache: CacheFactors = { read: 1, write: 1, writeLong: 1 }

/** Applies the default price to what is not configured. */
function configured({ input, output, cacheRead, cacheWrite, cacheWriteLong }: PriceConfig): Price {
  const written = cacheWrite ?? input
  return {
    input,
    output,
    cacheRead: cacheRead ?? input,
    cacheWrite: written,
    cacheWriteLong: cacheWriteLong ?? written,
  }
}

/** Suffixes of a model's name that denote a version, such as -2024-08-06, @20250929, -001 or -latest. */
const version = /(?:[-@]\d{3,8}(?:-\d\d){0,2}|-latest)$/
