// The form of a policy.

import { type Html, html } from '../../../base/text/html.ts'
import type { Failure } from '../../page/api-client.ts'
import type { Draft } from '../../parts/draft.ts'
import { expressionField } from '../../parts/expression-field.ts'
import { areaField, selectField, textField } from '../../parts/fields.ts'
import { nouns, patternsIn, type Policy, templates } from './policy.ts'

/** The names of the fields in the summary of faults. */
export const policyLabels = {
  name: 'Name',
  who: 'Whose calls',
  whose: 'Which one',
  action: 'What they may',
  amount: 'Dollars',
  period: 'In which time',
  time_zone: 'Time zone',
  resource: 'Which models',
  patterns: 'Names',
  condition: 'Condition',
} as const

type Kind = keyof typeof nouns

const kinds = Object.keys(nouns) as readonly Kind[]

export const newPolicy: Readonly<Record<string, string>> = {
  who: 'all',
  action: 'limit',
  period: 'daily',
  resource: '*',
}

export function policyFields(draft: Draft): Html {
  return html`${textField(draft, {
    name: 'name',
    label: policyLabels.name,
    hint: 'Callers whom it refuses read it.',
    maxLength: 100,
    hasFocus: true,
  })}<div class="kinds whom">${selectField(draft, {
    name: 'who',
    label: policyLabels.who,
    options: [
      { value: 'all', label: 'Everybody' },
      ...kinds.map(kind => ({ value: `each_${kind}`, label: `Each ${nouns[kind]}` })),
      ...kinds.map(kind => ({ value: kind, label: `One ${nouns[kind]}` })),
      { value: 'other', label: 'Another actor, as the API writes it' },
    ],
  })}<div class="one">${textField(draft, {
    name: 'whose',
    label: policyLabels.whose,
    hint: 'An id, the e-mail address of a user, or the name of a team, which callers choose in their metadata.',
    maxLength: 320,
    isDependent: true,
  })}</div></div><div class="kinds doing">${selectField(draft, {
    name: 'action',
    label: policyLabels.action,
    options: [
      { value: 'limit', label: 'Call, and spend so much' },
      { value: 'no-limit', label: 'Call without a limit' },
      { value: 'block', label: 'Not call' },
      { value: 'except', label: 'Call nothing else' },
    ],
  })}<div class="spending"><div class="pair">${textField(draft, {
    name: 'amount',
    label: policyLabels.amount,
    maxLength: 20,
    isDependent: true,
  })}${selectField(draft, {
    name: 'period',
    label: policyLabels.period,
    options: [
      { value: 'hourly', label: 'An hour' },
      { value: 'daily', label: 'A day' },
      { value: 'weekly', label: 'A week, from Monday' },
      { value: 'monthly', label: 'A month' },
    ],
  })}${textField(draft, {
    name: 'time_zone',
    label: policyLabels.time_zone,
    placeholder: 'UTC',
    maxLength: 64,
    isOptional: true,
  })}</div></div></div><div class="kinds which">${selectField(draft, {
    name: 'resource',
    label: policyLabels.resource,
    options: [
      { value: '*', label: 'All' },
      { value: 'model', label: 'Some models' },
      { value: 'provider', label: 'Those of some providers' },
    ],
  })}<div class="names">${areaField(draft, {
    name: 'patterns',
    label: policyLabels.patterns,
    hint: 'One on a line. A * stands for any text: openai/gpt-4o*, or *gpt-4o* of any provider.',
    rows: 3,
    isDependent: true,
    isCode: true,
  })}</div></div>${expressionField(draft, {
    name: 'condition',
    label: policyLabels.condition,
    hint: 'In CEL, over user, app, token, provider, model, gateway and metadata: metadata.plan == "pro".',
    isOptional: true,
  })}`
}

/** Returns the values of the form for a policy. */
export function valuesOfPolicy({ name, actor, resource, condition, action }: Policy): Record<string, string> {
  return {
    ...newPolicy,
    name,
    ...actorValues(actor),
    action: action.type === 'block' && action.except === true ? 'except' : action.type,
    ...(action.type === 'limit' && {
      amount: action.amount.toFixed(9).replace(/\.?0+$/, ''),
      period: action.period,
      time_zone: action.time_zone === 'UTC' ? '' : (action.time_zone ?? ''),
    }),
    ...resourceValues(resource),
    condition: condition ?? '',
  }
}

function actorValues(actor: string): Record<string, string> {
  if (actor === '*') return { who: 'all' }
  const each = kinds.find(kind => actor === templates[kind])
  if (each !== undefined) return { who: `each_${each}` }
  const kind = kinds.find(kind => actor.startsWith(`${kind}:`) && !actor.includes('{'))
  return kind === undefined
    ? { who: 'other', whose: actor }
    : { who: kind, whose: actor.slice(kind.length + 1) }
}

function resourceValues(resource: Policy['resource']): Record<string, string> {
  if (resource === '*') return { resource }
  const [kind, patterns] =
    'model' in resource ? (['model', resource.model] as const) : (['provider', resource.provider] as const)
  return { resource: kind, patterns: patternsIn(patterns).join('\n') }
}

/** Makes the body of a policy; `policy` is the one that is edited. */
export function policyOf(draft: Draft, policy: Policy | null) {
  const condition = draft.value('condition').trim()
  return {
    name: draft.value('name').trim(),
    actor: actorIn(draft),
    resource: resourceIn(draft, policy),
    condition: condition === '' ? null : condition,
    action: actionIn(draft),
  }
}

function actorIn(draft: Draft): string {
  const [who, whose] = [draft.value('who'), draft.value('whose').trim()]
  if (who === 'all') return '*'
  const each = kinds.find(kind => who === `each_${kind}`)
  if (each !== undefined) return templates[each]
  return who === 'other' ? whose : `${who}:${whose}`
}

/** One pattern stays a text or a list, as it was. */
function resourceIn(draft: Draft, policy: Policy | null) {
  const kind = draft.value('resource')
  if (kind === '*') return '*'
  const patterns = draft
    .value('patterns')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
  const former = policy === null || policy.resource === '*' ? null : Object.values(policy.resource)[0]
  const isText = patterns.length === 1 && !Array.isArray(former)
  return { [kind]: isText ? patterns[0] : patterns }
}

function actionIn(draft: Draft) {
  const type = draft.value('action')
  if (type === 'except') return { type: 'block', except: true }
  if (type !== 'limit') return { type }
  const amount = draft.value('amount').trim().replace(/^\$ ?/, '')
  const period = draft.value('period')
  const zone = draft.value('time_zone').trim()
  return {
    type,
    amount: /^\d{1,15}(?:\.\d{1,9})?$/.test(amount) ? Number(amount) : amount,
    period,
    ...(zone !== '' && { time_zone: zone }),
  }
}

/** Returns the draft with the faults of the API at the fields. */
export function refusedPolicy(draft: Draft, failure: Failure): Draft {
  const actor = draft.value('who') === 'all' || draft.value('who').startsWith('each_') ? 'who' : 'whose'
  return draft.refused(failure, {
    '/actor': actor,
    '/resource': draft.value('resource') === '*' ? 'resource' : 'patterns',
    '/action/amount': 'amount',
    '/action/period': 'period',
    '/action/time_zone': 'time_zone',
  })
}
