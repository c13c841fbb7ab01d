// The settings of access rules and bans, for all zones and for one.

import { day, minute, second } from '../../base/units.ts'
import type { Reading } from '../../base/text/quantity.ts'
import type { AccessCondition, AccessConfig, AccessRule, BanConfig } from '../model/access-config.ts'
import { expression } from '../shape/expression-shape.ts'
import { hostPattern } from '../shape/host-rules.ts'
import type { Findings, Place } from '../file/mistake.ts'
import { refuseUnknown } from '../shape/name-checks.ts'
import { accessWork, type WorkSum } from '../shape/rule-cost.ts'
import { type RuleData, refuseWithoutGeo, textOf } from './rule-data.ts'
import {
  accept,
  description,
  duration,
  matching,
  network,
  oneOf,
  routePath,
  shortName,
  whole,
} from '../shape/rules.ts'
import {
  formed,
  group,
  list,
  mapping,
  oneOrMore,
  optional,
  type Placed,
  placed,
  type Rule,
  type Shape,
  scalar,
  shorthand,
  type Value,
  wordOr,
} from '../shape/shape.ts'

/** Accepts a country of ISO 3166-1 alpha-2, in any case, but not a common alias such as UK. */
export const country: Rule<string> = formed(readCountry, {
  pattern: '^[A-Za-z]{2}$',
  rule: 'must be a two-letter country code of ISO 3166-1, such as DE',
})

function readCountry(text: string): Reading<string> {
  const code = text.toUpperCase()
  // Checked as written: some other letters become two of these in upper case.
  const isCode = /^[A-Za-z]{2}$/.test(text) && isRegion(code)
  const usual = isCode ? new Intl.Locale(`und-${code}`).region : undefined
  return accept(
    usual === code ? code : undefined,
    `must be a two-letter country code of ISO 3166-1, ${usual ? `here ${usual}` : 'such as DE'}`,
  )
}

// Created on first use, since loading the names takes longer than reading the rest of a file.
let regions: Intl.DisplayNames | undefined

function isRegion(code: string): boolean {
  regions ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return regions.of(code) !== undefined
}

const asNumber = whole(1, 2 ** 32 - 1)

/** Accepts a pattern for User-Agent; the empty text is for requests without one. */
export const agentPattern = matching(
  /^\P{Cc}{0,256}$/u,
  'must be at most 256 characters without control characters; * matches any text',
)

const some = <T>(rule: Rule<T>): Shape<readonly T[]> => oneOrMore(scalar(rule), { min: 1 })

const condition = mapping({
  ip: optional(some(network), null),
  list: optional(oneOrMore(placed(scalar(shortName)), { min: 1 }), null),
  country: optional(placed(some(country)), null),
  asn: optional(placed(some(asNumber)), null),
  user_agent: optional(some(agentPattern), null),
  referer: optional(some(hostPattern), null),
  referer_not: optional(some(hostPattern), null),
  path: optional(some(routePath), null),
  expression: optional(placed(expression('request', 'bool')), null),
})

const action = optional(placed(shorthand('expression', condition)), null)

const rule = mapping({
  allow: action,
  deny: action,
  legal: action,
  description: optional(scalar(description), null),
})

const ban: Shape<BanConfig> = mapping({
  refusals: optional(scalar(whole(1, 1e6)), 20),
  within: optional(scalar(duration(1 * second, day)), 1 * minute),
  lasts: optional(scalar(duration(1 * second, 31 * day)), 10 * minute),
})

const forAll = {
  rules: optional(list(placed(rule), { max: 1000 }), []),
  ban: optional(wordOr('off', ban), null),
}

export const access = group(forAll)

export const zoneAccess = group({
  ...forAll,
  default: optional(placed(scalar(oneOf('allow', 'deny'))), null),
})

export type AccessRuleSettings = Value<typeof rule>
export interface AccessSettings {
  readonly rules: readonly Placed<AccessRuleSettings>[]
  readonly ban: BanConfig | null
  readonly default?: Placed<'allow' | 'deny'> | null
}

/** Returns the access rules of all zones, or of one, where a default may be set. */
export function resolveAccess(
  settings: AccessSettings,
  data: RuleData,
  findings: Findings,
  work: WorkSum,
): AccessConfig {
  return {
    rules: settings.rules.flatMap(setting => {
      const rules = resolveRule(setting, data, findings)
      for (const { condition } of rules) work.add(accessWork(condition), setting)
      return rules
    }),
    otherwise: settings.default?.value ?? 'allow',
    ban: settings.ban,
  }
}

/** Returns no rule after a mistake, and one per list if a rule names several. */
function resolveRule(rule: Placed<AccessRuleSettings>, data: RuleData, findings: Findings): AccessRule[] {
  const { description, ...actions } = rule.value
  refuseUnlessOne(actions, rule, findings)
  return (['allow', 'deny', 'legal'] as const).flatMap(action => {
    const condition = actions[action]
    const conditions = condition === null ? [] : resolveCondition(condition, data, findings)
    return conditions.map(condition => ({ action, condition, description, line: rule.line }))
  })
}

function resolveCondition(
  { value, ...place }: Placed<Value<typeof condition>>,
  data: RuleData,
  findings: Findings,
): AccessCondition[] {
  const { ip, list, country, asn, user_agent, referer, referer_not, path, expression } = value
  refuseUnlessOne(value, place, findings)
  for (const name of list ?? []) refuseUnknown(name, data.lists, 'a list', findings)
  for (const geo of [country, asn]) if (geo !== null) refuseWithoutGeo(geo, data, findings)
  const conditions: readonly (AccessCondition | null)[] = [
    ip && { kind: 'ip', networks: ip },
    ...(list ?? []).map(({ value: name }) => ({ kind: 'list' as const, name })),
    country && { kind: 'country', countries: country.value },
    asn && { kind: 'asn', numbers: asn.value },
    user_agent && { kind: 'user_agent', patterns: user_agent },
    referer && { kind: 'referer', hosts: referer },
    referer_not && { kind: 'referer_not', hosts: referer_not },
    path && { kind: 'path', prefixes: path },
    expression && { kind: 'expression', text: textOf(expression, data, findings) },
  ]
  return conditions.filter(condition => condition !== null)
}

function refuseUnlessOne(fields: Readonly<Record<string, unknown>>, place: Place, findings: Findings): void {
  const set = Object.values(fields).filter(value => value !== null)
  if (set.length === 1 || findings.concern(place.path)) return
  findings.flaw(place, `must have exactly one of ${Object.keys(fields).join(', ')}`)
}
