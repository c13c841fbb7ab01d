// An access rule in the form of the management API, and in words.

import { type Html, html } from '../../base/text/html.ts'
import { badge } from '../parts/lists.ts'
import { brief } from '../parts/values.ts'

type Values = readonly (string | number)[]

/** The conditions of a rule: each rule has one of these. */
interface Conditions {
  readonly ip?: Values
  readonly list?: string
  readonly country?: Values
  readonly asn?: Values
  readonly user_agent?: Values
  readonly referer?: Values
  readonly referer_not?: Values
  readonly path?: Values
  readonly expression?: string
}

export type Kind = keyof Conditions

type Action = 'allow' | 'deny' | 'legal'

export interface AccessRule extends Conditions {
  readonly id: string
  readonly action: Action
  readonly description: string | null
}

/** A part that decides on requests, in order: a rule, a ban, or the default. */
export interface Decider extends Conditions {
  readonly decides: 'rule' | 'ban' | 'default'
  readonly id: string | null
  readonly source: 'api' | 'zone_file' | 'all_zones_file' | null
  /** Among the rules of the file, from 1. */
  readonly number: number | null
  readonly action: Action
  readonly description: string | null
  readonly hits: number
  readonly last_hit_at: string | null
}

/** The words for each kind of condition, and how its values follow. */
const kinds: Readonly<Record<Kind, string>> = {
  ip: 'address in',
  list: 'address in the list',
  country: 'country',
  asn: 'autonomous system',
  user_agent: 'User-Agent',
  referer: 'Referer of',
  referer_not: 'Referer of any host but',
  path: 'path below',
  expression: 'expression',
}

const kindNames = Object.keys(kinds) as readonly Kind[]

/** Returns the kind of a rule's condition. */
export function kindOf(rule: Conditions): Kind {
  return kindNames.find(kind => rule[kind] !== undefined) ?? 'expression'
}

/** Returns the values of a rule's condition, as they are written. */
export function valuesOf(rule: Conditions): readonly string[] {
  const value = rule[kindOf(rule)] ?? []
  return typeof value === 'string' ? [value] : value.map(String)
}

const shownValues = 4

/** Writes the condition of a rule: the first values of many, each in full by default. */
export function conditionInWords(rule: Conditions, show = (value: string) => value): Html {
  const values = valuesOf(rule)
  const visible = values.slice(0, shownValues)
  const more = values.length - visible.length
  return html`<span>${kinds[kindOf(rule)]} ${visible.map((value, i) => [i > 0 && ', ', value === '' ? 'missing' : html`<code class="long">${show(value)}</code>`])}${more > 0 && html` <span class="hint">and ${more} more</span>`}</span>`
}

/** Writes the condition of a rule with its values abbreviated for lists. */
export function conditionInBrief(rule: Conditions): Html {
  return conditionInWords(rule, brief)
}

/** Makes a badge for the action of a rule. */
export function actionBadge(action: Action): Html {
  return badge(actions[action], action === 'allow' ? 'good' : 'bad')
}

const actions = { allow: 'allow', deny: 'deny', legal: 'deny, legal' } as const
