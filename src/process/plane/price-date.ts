// The date of the list prices of models.

import { priceDate } from '../../ai/usage/price-rows.ts'
import type { Config } from '../../config/model/config.ts'

export function priceDateOf({ ai }: Pick<Config, 'ai'>): string | null {
  return ai.priceList === null ? priceDate : ai.priceList.date
}
