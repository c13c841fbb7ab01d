// The date of the list prices of models.

import { priceDate } from '../../ai/usage/price-rows.ts'
import type { Config } from '../../config/model/config.ts'

/** Returns the date of the prices that a configuration uses, as 2026-01-31; null if none is stated. */
export function priceDateOf({ ai }: Pick<Config, 'ai'>): string | null {
  return ai.priceList === null ? priceDate : ai.priceList.date
}
