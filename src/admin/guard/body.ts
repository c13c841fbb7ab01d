// Reads the guard of a gateway, in the shape of the published client of gateways.

import { everyPattern, patternNames } from '../../guard/patterns.ts'
import type { Guard, GuardAction, GuardCheck, GuardRule } from '../../store/records/records.ts'
import type { Field } from '../http/field.ts'

export const maxPolicies = 20
export const actions = ['FLAG', 'REDACT', 'BLOCK'] as const satisfies readonly Uppercase<GuardAction>[]
export const checks = ['REQUEST', 'RESPONSE'] as const satisfies readonly Uppercase<GuardCheck>[]
export const profiles: readonly string[] = [everyPattern, ...patternNames]
export const idPattern = /^[A-Za-z0-9_-]{1,64}$/

/** Null if there is none, or after a fault. */
export function readGuard(field: Field): Guard | null {
  if (field.value === undefined || field.value === null) return null
  const { enabled, policies } = field.members([], ['enabled', 'policies'])
  const taken = new Set<string>()
  const rules = policies.items(0, maxPolicies).map((policy, i) => readPolicy(policy, i, taken))
  return { isEnabled: enabled.flag() ?? true, rules }
}

function readPolicy(field: Field, i: number, taken: Set<string>): GuardRule {
  const members = field.members(['action'], ['id', 'enabled', 'check', 'profiles'])
  const idFlaw = 'must be 1 to 64 letters, digits, hyphens and underscores'
  const id = members.id.ruled(id => (idPattern.test(id) ? null : idFlaw)) ?? `policy-${i + 1}`
  if (taken.has(id)) members.id.refuse('duplicates the id of an earlier policy', 'repeated')
  taken.add(id)
  return {
    id,
    isEnabled: members.enabled.flag() ?? true,
    action: lower(members.action.oneOf(actions) ?? 'FLAG'),
    checks: listOf(members.check, checks).map(lower),
    patterns: members.profiles.value === undefined ? [everyPattern] : listOf(members.profiles, profiles),
  }
}

/** Absent means all. */
function listOf<const Choice extends string>(field: Field, choices: readonly Choice[]): readonly Choice[] {
  if (field.value === undefined) return choices
  const items = field.items(1, choices.length)
  return [...new Set(items.flatMap(item => item.oneOf(choices) ?? []))]
}

function lower<Text extends string>(text: Text): Lowercase<Text> {
  return text.toLowerCase() as Lowercase<Text>
}
