// The API settings of zones, as every backend returns them. Times are ms since the epoch; ids are 32 hex
// digits unless said otherwise.

import type { AccessRule } from '../../config/model/access-config.ts'
import type { ErrorPageType, ErrorRule } from '../../config/model/custom-errors-config.ts'

/** The owner of zone settings: zones belong to the configuration, not to an account. */
export const zoneOwner = 'zones'

/** The rules that the API has set for one zone, in order; its id is the name of the zone. */
export interface RuleList<R> {
  readonly account: string
  readonly id: string
  readonly rules: readonly R[]
  readonly createdAt: number
  readonly modifiedAt: number
}

export type ErrorRuleList = RuleList<KeptErrorRule>

export interface KeptErrorRule extends ErrorRule {
  readonly id: string
}

export type AccessRuleList = RuleList<KeptAccessRule>

export interface KeptAccessRule extends AccessRule {
  readonly id: string
}

/** An error page of a zone; its id is `zone/type`. */
export interface ErrorPage {
  readonly account: string
  readonly id: string
  readonly zone: string
  readonly type: ErrorPageType
  /** At most 1.5 MB. */
  readonly html: string
  readonly createdAt: number
  readonly modifiedAt: number
}
