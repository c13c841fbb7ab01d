// A policy of a gateway in the form of the management API, and in words.

import type { PolicyPeriod, PolicyResource } from '../../../store/records/policy.ts'
import { dollars } from '../../parts/numbers.ts'

export interface Policy {
  readonly id: string
  readonly name: string
  readonly actor: string
  readonly resource: PolicyResource
  readonly condition: string | null
  readonly action: Action
}

type Action =
  | {
      readonly type: 'limit'
      readonly amount: number
      readonly period: PolicyPeriod
      readonly time_zone: string | null
    }
  | { readonly type: 'no-limit' }
  | { readonly type: 'block'; readonly except?: boolean }

export interface PolicyCommit {
  readonly id: string
  readonly created_at: string
  readonly active: boolean
  readonly policies: readonly Policy[]
}

/** By the ids of policies. */
export interface PolicyDraft {
  readonly outdated: boolean
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

export const nouns = { user: 'user', app: 'app', token: 'API token', team: 'team' } as const

/** What gives each identity a budget of its own. */
export const templates = {
  user: 'user:{svc.user.id}',
  app: 'app:{svc.app.id}',
  token: 'token:{svc.token.id}',
  team: 'team:{metadata.team}',
} as const satisfies Record<keyof typeof nouns, string>

/** Returns what a policy does, as `Each user may spend $5.00 a day on all models`. */
export function policyInWords({ actor, resource, condition, action }: Policy): string {
  const whose = actorInWords(actor)
  const what = resourceInWords(resource)
  const where = condition === null ? '' : `, where ${condition}`
  return `${capitalized(actionInWords(action, whose, what))}${where}`
}

function actionInWords(action: Action, whose: string, what: string): string {
  if (action.type === 'no-limit') return `${whose} may call ${what}`
  if (action.type === 'block')
    return action.except === true ? `${whose} may call nothing but ${what}` : `${whose} may not call ${what}`
  const { amount, period, time_zone: zone } = action
  const of = zone === null || zone === 'UTC' ? '' : ` (${zone})`
  return `${whose} may spend ${dollars(amount)} ${spans[period]}${of} on ${what}`
}

const spans = {
  hourly: 'an hour',
  daily: 'a day',
  weekly: 'a week',
  monthly: 'a month',
} as const satisfies Record<PolicyPeriod, string>

function actorInWords(actor: string): string {
  if (actor === '*') return 'everybody'
  const kinds = Object.keys(nouns) as (keyof typeof nouns)[]
  for (const kind of kinds) {
    if (actor === templates[kind]) return `each ${nouns[kind]}`
    if (!actor.startsWith(`${kind}:`)) continue
    const whose = actor.slice(kind.length + 1)
    const [, fact] = /^\{(.+)\}$/.exec(whose) ?? []
    return fact === undefined ? `${nouns[kind]} ${whose}` : `each value of ${fact}`
  }
  return actor
}

function resourceInWords(resource: PolicyResource): string {
  if (resource === '*') return 'all models'
  return 'model' in resource
    ? `the ${counted(resource.model, 'model')} ${joined(patternsIn(resource.model))}`
    : `the ${counted(resource.provider, 'provider')} ${joined(patternsIn(resource.provider))}`
}

export function patternsIn(patterns: string | readonly string[]): readonly string[] {
  return typeof patterns === 'string' ? [patterns] : patterns
}

function counted(patterns: string | readonly string[], noun: string): string {
  return patternsIn(patterns).length === 1 ? noun : `${noun}s`
}

function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
