// Reads the guard of a gateway, in the shape of the published client of gateways.

import { everyPattern, patternNames } from '../../guard/patterns.ts'
import type { Guard, GuardAction, GuardCheck, GuardRule, GuardWebhook } from '../../store/records/records.ts'
import { webhookUrl } from '../http/webhook-url.ts'
import type { Field } from '../http/field.ts'

export const maxPolicies = 20
export const actions = ['FLAG', 'REDACT', 'BLOCK'] as const satisfies readonly Uppercase<GuardAction>[]
export const checks = ['REQUEST', 'RESPONSE'] as const satisfies readonly Uppercase<GuardCheck>[]
export const profiles: readonly string[] = [everyPattern, ...patternNames]
export const idPattern = /^[A-Za-z0-9_-]{1,64}$/

/** Ms. */
export const webhookTimeout = { least: 100, usual: 5_000, most: 30_000 }
/** 24 to 64 bytes, as Standard Webhooks has them. */
export const secretPattern = /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** A guard whose secret is not sealed yet; null keeps the one before. */
export interface GuardDraft extends Omit<Guard, 'webhook'> {
  readonly webhook: (Omit<GuardWebhook, 'sealed'> & { readonly secret: string | null }) | null
}

/** Null if there is none, or after a fault. */
export function readGuard(field: Field): GuardDraft | null {
  if (field.value === undefined || field.value === null) return null
  const { enabled, policies, webhook } = field.members([], ['enabled', 'policies', 'webhook'])
  const taken = new Set<string>()
  const rules = policies.items(0, maxPolicies).map((policy, i) => readPolicy(policy, i, taken))
  return { isEnabled: enabled.flag() ?? true, rules, webhook: readWebhook(webhook) }
}

function readWebhook(field: Field): GuardDraft['webhook'] {
  if (field.value === undefined || field.value === null) return null
  const { url, check, timeout, secret } = field.members(['url', 'check'], ['timeout', 'secret'])
  const { least, usual, most } = webhookTimeout
  const secretFlaw = 'must be whsec_ and 24 to 64 bytes in base64'
  return {
    url: url.by(webhookUrl) ?? '',
    checks: listOf(check, checks).map(lower),
    timeout: timeout.integer(least, most) ?? usual,
    secret: secret.ruled(text => (secretPattern.test(text) ? null : secretFlaw)),
  }
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
