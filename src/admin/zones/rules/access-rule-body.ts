// Validates the body of an access rule, by the rules of the configuration file, and shows rules in responses.

import type { AccessCondition, AccessRule } from '../../../config/model/access-config.ts'
import { agentPattern, country } from '../../../config/settings/access-settings.ts'
import { hostPattern } from '../../../config/shape/host-rules.ts'
import { network, routePath } from '../../../config/shape/rules.ts'
import { accessWork } from '../../../config/shape/rule-cost.ts'
import type { Rule } from '../../../config/shape/shape.ts'
import type { KeptAccessRule } from '../../../store/records/zone-lists.ts'
import type { Field } from '../../http/field.ts'
import { besideRule, needsGeo, type ReadRule, readDescription, readExpression } from './rule-members.ts'
import type { Zones } from '../../facts/zone-facts.ts'

type Data = Pick<Zones, 'lists' | 'hasGeo'>
type Kind = AccessCondition['kind']

export const accessActions = ['allow', 'deny', 'legal'] as const
/** Maximum of values of one condition: more belong in a list of the configuration. */
export const maxValues = 100
export const maxPathLength = 1000

const conditions: { readonly [K in Kind]: (field: Field, data: Data) => AccessCondition } = {
  ip: field => ({ kind: 'ip', networks: someOf(field, network) }),
  list: (field, data) => ({ kind: 'list', name: readList(field, data.lists()) }),
  country: (field, data) => ({ kind: 'country', countries: someOf(requireGeo(field, data), country) }),
  asn: (field, data) => ({ kind: 'asn', numbers: readNumbers(requireGeo(field, data)) }),
  user_agent: field => ({ kind: 'user_agent', patterns: someOf(field, agentPattern) }),
  referer: field => ({ kind: 'referer', hosts: someOf(field, hostPattern) }),
  referer_not: field => ({ kind: 'referer_not', hosts: someOf(field, hostPattern) }),
  path: field => ({ kind: 'path', prefixes: someOf(field, shortPath) }),
  expression: (field, data) => ({
    kind: 'expression',
    text: readExpression(field, 'request', data.hasGeo()),
  }),
}

export const conditionKinds = Object.keys(conditions) as readonly Kind[]

/** Reads a rule; it must not be used if the field records a fault. */
export function readAccessRule(field: Field, data: Data): ReadRule<AccessRule> {
  const members = field.members(['action'], [...conditionKinds, 'description', ...besideRule])
  const isSet = conditionKinds.filter(kind => members[kind].value !== undefined)
  if (field.object() && isSet.length !== 1)
    field.refuse(
      `must have exactly one condition of ${conditionKinds.join(', ')}`,
      isSet.length === 0 ? 'missing' : 'invalid',
    )
  const [condition = none] = isSet.map(kind => conditions[kind](members[kind], data))
  const action = members.action.oneOf(accessActions) ?? 'deny'
  const rule = { action, condition, description: readDescription(members.description) }
  return { rule, id: members.id, position: members.position }
}

export function viewAccessRule({ id, action, condition, description }: KeptAccessRule) {
  return { id, action, [condition.kind]: shownValue(condition), description }
}

export function accessRuleWork({ condition }: AccessRule): number {
  return accessWork(condition)
}

const none: AccessCondition = { kind: 'ip', networks: [] }

function someOf<T>(field: Field, rule: Rule<T>): readonly T[] {
  return field.items(1, maxValues).flatMap(item => item.by(rule) ?? [])
}

function readNumbers(field: Field): readonly number[] {
  return field.items(1, maxValues).flatMap(item => item.integer(1, 2 ** 32 - 1) ?? [])
}

function readList(field: Field, lists: readonly string[]): string {
  if (lists.length > 0) return field.oneOf(lists) ?? ''
  return field.refuse('must be the name of a list, but the configuration has none') ?? ''
}

function requireGeo(field: Field, data: Data): Field {
  if (!data.hasGeo()) field.refuse(needsGeo)
  return field
}

const shortPath: Rule<string> = text =>
  text.length > maxPathLength ? { flaw: `must have at most ${maxPathLength} characters` } : routePath(text)

function shownValue(condition: AccessCondition): unknown {
  switch (condition.kind) {
    case 'ip':
      return condition.networks
    case 'list':
      return condition.name
    case 'country':
      return condition.countries
    case 'asn':
      return condition.numbers
    case 'user_agent':
      return condition.patterns
    case 'referer':
    case 'referer_not':
      return condition.hosts
    case 'path':
      return condition.prefixes
    case 'expression':
      return condition.text
  }
}
