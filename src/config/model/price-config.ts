// Configured prices of model calls.

/** US dollars for a million tokens; null if unknown. */
export interface Rates {
  readonly input: number
  readonly output: number
  readonly cacheRead: number | null // of input read from a cache
  readonly cacheWrite: number | null // of input written to a cache
  readonly cacheWriteLong: number | null // of input that stays in the cache for an hour
  readonly audioIn: number | null // of input that stands for sound, but for what was read from a cache
  readonly audioOut: number | null
}

/** The list price of a model. */
export interface ListedPrice {
  readonly model: string // provider/model, as in log entries
  readonly rates: Rates
  readonly long: { readonly above: number; readonly rates: Rates } | null // for calls with more tokens of input than that
  readonly tiers: Readonly<Record<string, Rates>> // by the tier of service: flex, priority, batch
  readonly search: number | null // US dollars for a search on the web
}

export interface PriceList {
  readonly date: string | null // of the prices, as 2026-01-31; null where nothing says it
  readonly prices: readonly ListedPrice[]
}
