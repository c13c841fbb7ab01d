// The form of a budget.

import { isDeepStrictEqual } from 'node:util'
import { type Html, html } from '../../base/text/html.ts'
import type { Criterion } from '../../store/records/budget-rule.ts'
import type { Failure } from '../page/api-client.ts'
import { Draft } from '../parts/draft.ts'
import { areaField, checkbox, checkboxes, selectField, textField } from '../parts/fields.ts'
import { criteria, filtersInWords, partitionsOf, type Rule } from './rule.ts'

/** Whose budgets they are: those of a token have no partitions, and no filters by who calls. */
export type OwnerKind = 'gateway' | 'token'

type CriterionName = (typeof criteria)[number]

/** The names of the fields in the summary of faults. */
export const ruleLabels = {
  limit: 'Limit',
  limitType: 'Of what',
  window: 'In which time',
  seconds: 'Seconds',
  technique: 'Starts over',
  time_zone: 'Time zone',
  each: 'A budget for each',
  each_metadata: 'A budget for each value of this metadata',
  only_model: 'Only these models',
  only_provider: 'Only these providers',
  only_token: 'Only these tokens',
  only_app: 'Only these apps',
  only_person: 'Only these people',
  only_metadata: 'Only with this metadata',
  when_store_unreachable: 'While the store is unreachable',
  id: 'Name',
  enabled: 'In effect',
} as const

const eachLabels: Readonly<Record<CriterionName, string>> = {
  token: 'Token',
  app: 'App',
  person: 'Person',
  model: 'Model',
  provider: 'Provider',
}

const hints: Readonly<Record<CriterionName, string>> = {
  token: 'By their ids, one on a line.',
  app: 'OAuth clients by their ids, one on a line.',
  person: 'By their e-mail addresses or ids, one on a line.',
  model: 'One on a line: openai/gpt-4o, or gpt-4o of any provider.',
  provider: 'One on a line.',
}

const filtersOf = {
  gateway: ['model', 'provider', 'token', 'app', 'person'],
  token: ['model', 'provider'],
} as const satisfies Record<OwnerKind, readonly CriterionName[]>

export const newRule: Readonly<Record<string, string>> = {
  limitType: 'cost',
  window: 'month',
  technique: 'fixed',
  when_store_unreachable: 'closed',
  enabled: 'on',
}

/** Makes the fields; `rule` is the one that is edited, whose name stays. */
export function ruleFields(draft: Draft, kind: OwnerKind, rule: Rule | null): Html {
  return html`<div class="pair">${textField(draft, {
    name: 'limit',
    label: ruleLabels.limit,
    hint: 'Such as 100, or 2.50 for dollars.',
    maxLength: 20,
    hasFocus: rule === null,
  })}${selectField(draft, {
    name: 'limitType',
    label: ruleLabels.limitType,
    hint: 'All together must not exceed it.',
    options: [
      { value: 'cost', label: 'US dollars' },
      { value: 'tokens', label: 'Tokens, in and out' },
      { value: 'concurrency', label: 'Calls at a time' },
    ],
  })}</div><div class="kinds windows">${selectField(draft, {
    name: 'window',
    label: ruleLabels.window,
    options: [
      { value: 'month', label: 'A month of the calendar' },
      { value: 'week', label: 'A week of the calendar, from Monday' },
      { value: 'day', label: 'A day of the calendar' },
      { value: 'seconds', label: 'So many seconds' },
    ],
  })}<div class="calendar">${textField(draft, {
    name: 'time_zone',
    label: ruleLabels.time_zone,
    hint: 'In which days begin, such as Europe/Berlin.',
    placeholder: 'UTC',
    maxLength: 64,
    isOptional: true,
  })}</div><div class="pair in-seconds">${textField(draft, {
    name: 'seconds',
    label: ruleLabels.seconds,
    type: 'number',
    minimum: 60,
    maximum: 31_622_400,
    hint: '60 is a minute, 86400 a day.',
    isDependent: true,
  })}${selectField(draft, {
    name: 'technique',
    label: ruleLabels.technique,
    hint: 'What was spent is free again then.',
    options: [
      { value: 'fixed', label: 'At the end of each such time' },
      { value: 'sliding', label: 'Bit by bit, after that time' },
    ],
  })}</div></div>${callFields(draft, kind, rule)}${selectField(draft, {
    name: 'when_store_unreachable',
    label: ruleLabels.when_store_unreachable,
    options: [
      { value: 'closed', label: 'Refuse calls' },
      { value: 'open', label: 'Admit calls, and count them afterwards' },
    ],
  })}${
    rule === null
      ? textField(draft, {
          name: 'id',
          label: ruleLabels.id,
          hint: 'Refused callers read it. Letters, digits, hyphens and underscores; made up if left out.',
          maxLength: 64,
          isOptional: true,
        })
      : null
  }${checkbox(draft, {
    name: 'enabled',
    label: ruleLabels.enabled,
    hint: 'Without this, calls are not held to it.',
  })}`
}

function callFields(draft: Draft, kind: OwnerKind, rule: Rule | null): Html {
  if (rule !== null && !isExpressible(rule, kind)) {
    const each = partitionsOf(rule)
    const words = [each.length > 0 && `One for each ${each.join(', ')}.`, filtersInWords(rule)]
    return html`<div class="field"><p class="label">Which calls</p><p class="hint long">${words.filter(Boolean).join(' ')} This was set by the management API, and stays as it is.</p></div>`
  }
  const filters = filtersOf[kind]
  const isFiltered = [...filters.map(name => `only_${name}`), 'only_metadata'].some(
    name => draft.value(name) !== '' || draft.fault(name) !== undefined,
  )
  return html`${
    kind === 'gateway' &&
    html`${checkboxes(draft, {
      name: 'each',
      label: ruleLabels.each,
      hint: 'Each has the whole limit for itself. Without any, all calls share one budget.',
      options: criteria.map(value => ({ value, label: eachLabels[value] })),
    })}${textField(draft, {
      name: 'each_metadata',
      label: ruleLabels.each_metadata,
      hint: 'Such as team. Callers choose their metadata.',
      maxLength: 100,
      isOptional: true,
    })}`
  }<details${isFiltered && html` open`}><summary>Only for some calls</summary><div class="more-fields">${filters.map(
    name =>
      areaField(draft, {
        name: `only_${name}`,
        label: ruleLabels[`only_${name}`],
        hint: hints[name],
        rows: 2,
        isOptional: true,
        isCode: true,
      }),
  )}${areaField(draft, {
    name: 'only_metadata',
    label: ruleLabels.only_metadata,
    hint: 'One on a line: team=search.',
    rows: 2,
    isOptional: true,
    isCode: true,
  })}</div></details>`
}

/** Returns the values of the form for a rule. */
export function valuesOfRule(rule: Rule): Record<string, string> {
  const { window, limit } = rule
  const metadata = Object.entries(rule.metadata ?? {})
  const only = criteria.map(name => [`only_${name}`, linesOf(rule[name])])
  const each = criteria.flatMap(name => (rule[name]?.mode === 'partition' ? [[`each.${name}`, 'on']] : []))
  return {
    // Of small numbers, no exponent.
    limit: rule.limitType === 'cost' ? limit.toFixed(9).replace(/\.?0+$/, '') : String(limit),
    limitType: rule.limitType,
    window: typeof window === 'number' ? 'seconds' : (window ?? newRule.window!),
    ...(typeof window === 'number' && { seconds: String(window) }),
    technique: rule.technique ?? 'fixed',
    time_zone: rule.time_zone === 'UTC' ? '' : (rule.time_zone ?? ''),
    ...Object.fromEntries([...only, ...each]),
    each_metadata: metadata.flatMap(([name, { mode }]) => (mode === 'partition' ? [name] : [])).join(', '),
    only_metadata: metadata
      .flatMap(([name, criterion]) =>
        criterion.mode === 'filter' ? criterion.values.map(value => `${name}=${value}`) : [],
      )
      .join('\n'),
    when_store_unreachable: rule.when_store_unreachable,
    ...(rule.enabled && { enabled: 'on' }),
  }
}

/** Makes the rule of a form for the body of its owner; `rule` is the one that is edited. */
export function ruleOf(draft: Draft, kind: OwnerKind, rule: Rule | null) {
  const value = (name: keyof typeof ruleLabels) => draft.value(name).trim()
  const id = rule?.id ?? value('id')
  const limitType = value('limitType')
  const period = value('window')
  const zone = value('time_zone')
  const window =
    period === 'seconds'
      ? { window: numberIn(value('seconds')), technique: value('technique') }
      : { window: period, ...(zone !== '' && { time_zone: zone }) }
  return {
    ...(id !== '' && { id }),
    enabled: draft.has('enabled'),
    limit: numberIn(value('limit').replace(/^\$ ?/, '')),
    limitType,
    ...(limitType !== 'concurrency' && window),
    ...(rule === null || isExpressible(rule, kind) ? criteriaIn(draft, kind) : criteriaOf(rule)),
    when_store_unreachable: value('when_store_unreachable'),
  }
}

/** Returns the draft with what the fields contradict each other in. */
export function withContradictions(draft: Draft): Draft {
  const both = criteria.filter(name => draft.has(`each.${name}`) && linesIn(draft, `only_${name}`).length > 0)
  return both.reduce(
    (draft, name) =>
      draft.withFault(`only_${name}`, 'Either each has a budget of its own, or only these count: not both.'),
    draft,
  )
}

/** Returns the draft with the faults of the API at the fields; `i` is the place of the rule. */
export function refusedRule(draft: Draft, failure: Failure, i: number): Draft {
  const place = `/spend_limits/rules/${i}`
  const windowField = draft.value('window') === 'seconds' ? 'seconds' : 'window'
  const renamed = Object.fromEntries([
    ...['id', 'limit', 'limitType', 'technique', 'time_zone', 'when_store_unreachable'].map(name => [
      `${place}/${name}`,
      name,
    ]),
    [`${place}/window`, windowField],
    ...[...criteria, 'metadata'].map(name => [`${place}/${name}`, `only_${name}`]),
  ])
  return draft.refused(failure, renamed)
}

/** Whether the form can represent which calls a rule is for. */
function isExpressible(rule: Rule, kind: OwnerKind): boolean {
  return isDeepStrictEqual(criteriaIn(new Draft(valuesOfRule(rule)), kind), criteriaOf(rule))
}

function criteriaOf({ model, provider, token, app, person, metadata }: Rule) {
  return {
    ...(model && { model }),
    ...(provider && { provider }),
    ...(token && { token }),
    ...(app && { app }),
    ...(person && { person }),
    ...(metadata && { metadata }),
  }
}

function criteriaIn(draft: Draft, kind: OwnerKind) {
  const own = filtersOf[kind].flatMap((name): readonly (readonly [string, Criterion])[] => {
    if (kind === 'gateway' && draft.has(`each.${name}`)) return [[name, { mode: 'partition' }]]
    const values = linesIn(draft, `only_${name}`)
    return values.length === 0 ? [] : [[name, { mode: 'filter', values }]]
  })
  const metadata = metadataIn(draft, kind)
  return {
    ...Object.fromEntries(own),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
  }
}

function metadataIn(draft: Draft, kind: OwnerKind): readonly (readonly [string, Criterion])[] {
  const values = new Map<string, string[]>()
  for (const line of linesIn(draft, 'only_metadata')) {
    const [, name = line, value = ''] = /^([^=]*)=(.*)$/.exec(line) ?? []
    values.set(name, [...(values.get(name) ?? []), value])
  }
  const each = draft.value('each_metadata').trim()
  return [
    ...Array.from(values, ([name, values]) => [name, { mode: 'filter', values }] as const),
    ...(kind === 'gateway' && each !== '' ? [[each, { mode: 'partition' }] as const] : []),
  ]
}

function linesOf(criterion: Criterion | undefined): string {
  return criterion?.mode === 'filter' ? criterion.values.join('\n') : ''
}

function linesIn(draft: Draft, name: string): readonly string[] {
  return draft
    .value(name)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

/** Returns the text where it is no number: the API says what is wrong with it. */
function numberIn(text: string): number | string {
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text
}
