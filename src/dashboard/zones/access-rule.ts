// An access rule as the management API shows it, and what it says in words.

import { type Html, html } from '../../base/text/html.ts'
import { badge } from '../parts/lists.ts'
import { brief } from '../parts/values.ts'

type Values = readonly (string | number)[]

/** What a rule may ask of a request: of all these a rule has one. */
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

/** What decides on requests, in order: a rule, a ban, or the default. */
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

/** What each kind of condition is called, and how its values follow. */
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

/** Returns the kind of condition that a rule has. */
export function kindOf(rule: Conditions): Kind {
  return kindNames.find(kind => rule[kind] !== undefined) ?? 'expression'
}

/** Returns the values of the condition of a rule, as they are written. */
export function valuesOf(rule: Conditions): readonly string[] {
  const value = rule[kindOf(rule)] ?? []
  return typeof value === 'string' ? [value] : value.map(String)
}

const shownValues = 4

/** Writes the condition of a rule: the first values of many, all of each unless it says how much. */
export function conditionInWords(rule: Conditions, show = (value: string) => value): Html {
  const values = valuesOf(rule)
  const visible = values.slice(0, shownValues)
  const more = values.length - visible.length
  return html`<span>${kinds[kindOf(rule)]} ${visible.map((value, i) => [i > 0 && ', ', value === '' ? 'missing' : html`<code class="long">${show(value)}</code>`])}${more > 0 && html` <span class="hint">and ${more} more</span>`}</span>`
}

/** Writes the condition of a rule with what lists show of its values. */
export function conditionInBrief(rule: Conditions): Html {
  return conditionInWords(rule, brief)
}

/** Makes a badge of what a rule does. */
export function actionBadge(action: Action): Html {
  return badge(actions[action], action === 'allow' ? 'good' : 'bad')
}

const actions = { allow: 'allow', deny: 'deny', legal: 'deny, legal' } as const
