// What a call cost: the price rows, and what the configuration says in their place. The log asks, after the call is over.

import type { PriceConfig } from '../config/config.ts'
import { priceRows } from './price-rows.ts'

/** US dollars for a million tokens. */
interface Price {
  readonly input: number
  readonly output: number
}

export class PriceTable {
  /** By provider/model. */
  readonly #listed = new Map<string, Price>()
  readonly #overrides = new Map<string, Price>()
  /** Those that end with a star, without it; the longest first. */
  readonly #beginnings: readonly PriceConfig[]
  /** What was asked for last: mostly it is asked for again. */
  #last: { readonly provider: string; readonly model: string; readonly price: Price | null } | null = null

  constructor(overrides: readonly PriceConfig[]) {
    for (const [provider, models] of Object.entries(priceRows)) {
      for (const [model, [input, output]] of Object.entries(models)) {
        this.#listed.set(`${provider}/${model}`, { input, output })
      }
    }
    for (const override of overrides) this.#overrides.set(override.model, override)
    this.#beginnings = overrides
      .filter(({ model }) => model.endsWith('*'))
      .map(override => ({ ...override, model: override.model.slice(0, -1) }))
      .sort((a, b) => b.model.length - a.model.length)
  }

  /** Gives US dollars; null where the model is unknown, or nobody counted its tokens. */
  costOf(
    provider: string,
    model: string | null,
    tokensIn: number | null,
    tokensOut: number | null,
  ): number | null {
    if (model === null || (tokensIn === null && tokensOut === null)) return null
    const price = this.#priceOf(provider, model)
    if (price === null) return null
    const millionths = (tokensIn ?? 0) * price.input + (tokensOut ?? 0) * price.output
    return Math.round(millionths * 1e6) / 1e12
  }

  #priceOf(provider: string, model: string): Price | null {
    if (this.#last?.model !== model || this.#last.provider !== provider)
      this.#last = { provider, model, price: this.#find(`${provider}/${model}`) }
    return this.#last.price
  }

  /** The configuration comes before the rows, and in both the whole name before a part of it. */
  #find(name: string): Price | null {
    return (
      this.#overrides.get(name) ??
      this.#beginnings.find(({ model }) => name.startsWith(model)) ??
      this.#listed.get(name) ??
      this.#listed.get(name.replace(VERSION, '')) ??
      null
    )
  }
}

/** What a model's name has at its end in addition where a version of it is meant, such as -2024-08-06, @20250929, -001 or -latest. */
const VERSION = /(?:[-@]\d{3,8}(?:-\d\d){0,2}|-latest)$/
