// What a token that is limited to gateways and models may call.

import { Glob } from '../base/text/glob.ts'
import { memoizeEach } from '../base/memo.ts'
import type { TokenLimits } from '../store/records/records.ts'

/** Whether a call may use the gateway; `token` is null where none is required. */
export function mayUseGateway(token: TokenLimits | null, gateway: string): boolean {
  return isWithin(token?.gateways, gateway)
}

/**
 * Whether a call may use the model: `provider/model`, the name of an alias, or `dynamic/NAME`. A token that
 * names an alias or a route may call all that this leads to.
 */
export function mayCall(token: TokenLimits | null, gateway: string, model: string): boolean {
  return isWithin(token?.gateways, gateway) && isWithin(token?.models, model)
}

/** Without patterns, everything is; an empty list permits nothing. */
function isWithin(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patternsOf(patterns).some(pattern => pattern.matches(name))
}

/** The list of a cached token stays the same object. */
const patternsOf = memoizeEach((patterns: readonly string[]) =>
  patterns.map(pattern => new Glob(pattern, { isExact: true })),
)
