// What a call costs according to its caller, who says it in svc-aig-custom-cost.

import { isObject } from '../base/text/json.ts'
import type { Reading } from '../base/text/quantity.ts'
import { parseJson } from './metadata.ts'

/** In US dollars. */
export type CustomCost =
  | { readonly total: number }
  | { readonly perTokenIn: number; readonly perTokenOut: number }

/** Parses a raw field value (latin1). */
export function parseCustomCost(value: string): Reading<CustomCost> {
  const cost = parseJson(Buffer.from(value, 'latin1'))
  if (!hasAmounts(cost)) return flaw
  const { total_cost: total, per_token_in: perTokenIn, per_token_out: perTokenOut, ...others } = cost
  if (Object.keys(others).length > 0) return flaw
  if (total !== undefined && perTokenIn === undefined && perTokenOut === undefined)
    return { value: { total } }
  if (total !== undefined || perTokenIn === undefined || perTokenOut === undefined) return flaw
  return { value: { perTokenIn, perTokenOut } }
}

const max = 1e6
const flaw = {
  flaw: `must be {"total_cost":DOLLARS} or {"per_token_in":DOLLARS,"per_token_out":DOLLARS}, each from 0 to ${max}`,
}

function hasAmounts(value: unknown): value is Readonly<Record<string, number>> {
  const isAmount = (one: unknown) => typeof one === 'number' && one >= 0 && one <= max
  return isObject(value) && Object.values(value).every(isAmount)
}

/** Returns the cost of a call; null if it depends on tokens that are unknown. */
export function customCostOf(cost: CustomCost, tokensIn: number | null, tokensOut: number | null) {
  if ('total' in cost) return cost.total
  if (tokensIn === null || tokensOut === null) return null
  const dollars = cost.perTokenIn * tokensIn + cost.perTokenOut * tokensOut
  return Math.round(dollars * 1e12) / 1e12
}
