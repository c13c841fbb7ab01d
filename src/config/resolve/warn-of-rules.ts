// Warnings about rules that are valid but probably not intended.

import { isJson } from '../../base/text/json.ts'
import { parseNetwork } from '../../net/address/address.ts'
import type { AccessRuleSettings, AccessSettings } from '../settings/access-settings.ts'
import type { ErrorRuleSettings } from '../settings/custom-errors-settings.ts'
import type { Findings } from '../file/mistake.ts'
import type { Settings } from '../settings/schema.ts'
import type { Placed } from '../shape/shape.ts'

/** Warns of unreachable, useless and self-contradicting rules. */
export function warnOfRules({ access, errors, zones }: Settings, findings: Findings): void {
  const members = (zones?.value ?? []).map(({ value }) => value)
  for (const { rules } of [access, ...members.map(zone => zone.access)]) warnOfUnreached(rules, findings)
  for (const zone of members) warnOfClosed(zone.access, access, findings)
  for (const { rules } of [errors, ...members.map(zone => zone.errors)]) warnOfContents(rules, findings)
  for (const { routes } of members) warnOfUnfollowed(routes, findings)
}

type Routes = NonNullable<Settings['zones']>['value'][number]['value']['routes']
type Rules = readonly Placed<AccessRuleSettings>[]

/** Only address rules are checked: whether an expression is always true cannot be decided. */
function warnOfUnreached(rules: Rules, findings: Findings): void {
  const end = rules.findIndex(isForAll)
  const next = rules[end + 1]
  if (end === -1 || next === undefined) return
  findings.warn(next, `never reached: ${rules[end]!.path} matches every address`)
}

function isForAll({ value: { allow, deny, legal } }: Placed<AccessRuleSettings>): boolean {
  const { ip } = (allow ?? deny ?? legal)?.value ?? {}
  const whole = (ip ?? []).map(parseNetwork).filter(network => network?.prefix === 0)
  return new Set(whole.map(network => network?.family)).size === 2
}

function warnOfClosed(zone: AccessSettings, all: AccessSettings, findings: Findings): void {
  const letsIn = [...all.rules, ...zone.rules].some(({ value }) => value.allow !== null)
  if (!zone.default || zone.default.value === 'allow' || letsIn) return
  findings.warn(zone.default, 'no rule allows anything, so every request is refused with error 1050')
}

function warnOfContents(rules: readonly Placed<ErrorRuleSettings>[], findings: Findings): void {
  for (const { value: rule } of rules) {
    if (!rule.content_type?.endsWith('json') || rule.content === null || isJson(rule.content.value)) continue
    findings.warn(rule.content, `the content is not valid JSON, but content_type is ${rule.content_type}`)
  }
}

function warnOfUnfollowed(routes: Routes, findings: Findings): void {
  for (const { value: route } of routes) {
    const path = route.rewrite?.path ?? null
    if (path === null || route.redirects === 0) continue
    findings.warn(
      path,
      'redirects on this route are never followed, since a rewritten path cannot be mapped back',
    )
  }
}
