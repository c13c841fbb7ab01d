// Which uploaded Error Pages apply to an error: the only table of them.

import type { ErrorPageType } from '../../config/model/custom-errors-config.ts'
import { type ErrorName, errorRows } from '../catalogue/catalogue.ts'

/** Lists the types of pages that apply to an error, most specific first; empty if none do. */
export function pageTypesOf(error: ErrorName): readonly ErrorPageType[] {
  return typesByName.get(error)!
}

const codesByType: Readonly<Partial<Record<ErrorPageType, readonly number[]>>> = {
  '500_errors': [502, 504, 520, 521, 522, 523, 524, 525, 526],
  ip_block: [1005, 1006, 1007, 1008, 1012, 1106, 1107, 1108],
  country_challenge: [1009, 1109],
  waf_block: [1010, 1011, 1020, 1050],
  ratelimit_block: [1015, 1025, 1027],
}

/** Errors of HTTP, and of hosts without a zone: whatever the tables say, these have no page. */
const statusesWithout: ReadonlySet<number> = new Set([500, 501, 503, 505])
const codesWithout: ReadonlySet<number> = new Set([1001, 1003, 1018, 1023])

const typesByName: ReadonlyMap<ErrorName, readonly ErrorPageType[]> = new Map(
  (Object.keys(errorRows) as ErrorName[]).map(name => [name, typesOf(errorRows[name])]),
)

function typesOf({ code, status }: { code: number; status: number }): readonly ErrorPageType[] {
  if (statusesWithout.has(status) || codesWithout.has(code)) return []
  const types = Object.keys(codesByType) as ErrorPageType[]
  const specific = types.filter(type => codesByType[type]!.includes(code))
  return code >= 1000 ? [...specific, '1000_errors'] : specific
}
