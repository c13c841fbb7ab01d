// The form of an access rule.

import { type Html, html } from '../../base/text/html.ts'
import type { Failure } from '../page/api-client.ts'
import { Draft } from '../parts/draft.ts'
import { expressionField } from '../parts/expression-field.ts'
import { areaField, checkbox, radios, selectField, textField } from '../parts/fields.ts'
import { type AccessRule, type Kind, kindOf, valuesOf } from './access-rule.ts'
import type { Zone } from './zone.ts'

export const ruleLabels = {
  action: 'What it does',
  kind: 'Which requests',
  ip: 'Addresses and networks',
  list: 'List',
  country: 'Countries',
  asn: 'Autonomous systems',
  user_agent: 'User-Agents',
  referer: 'Hosts of Referer',
  referer_not: 'Hosts of Referer that do not match',
  path: 'Paths',
  expression: 'Expression',
  description: 'Description',
  position: 'Position',
} as const

/** The box for requests without a User-Agent. */
const noAgent = 'user_agent_missing'

const isKind = (text: string): text is Kind => Object.hasOwn(kinds, text)

const kinds: Readonly<Record<Kind, string>> = {
  ip: 'From addresses',
  list: 'From the addresses of a list',
  country: 'From countries',
  asn: 'From autonomous systems (ASN)',
  user_agent: 'With a User-Agent',
  referer: 'With a Referer of a host',
  referer_not: 'With a Referer of any other host',
  path: 'To paths',
  expression: 'By an expression (CEL)',
}

/** Makes the draft of a new rule. */
export function newDraft(): Draft {
  return new Draft({ action: 'deny', kind: 'ip' })
}

/** Returns the field values of a rule. */
export function valuesOfRule(rule: AccessRule): Readonly<Record<string, string>> {
  const kind = kindOf(rule)
  const values = valuesOf(rule)
  const hasNone = kind === 'user_agent' && values.includes('')
  return {
    action: rule.action,
    kind,
    [kind]: values.filter(value => value !== '').join('\n'),
    ...(hasNone && { [noAgent]: 'on' }),
    description: rule.description ?? '',
  }
}

/** Makes the body of a rule from a form; the API reports its faults. */
export function bodyOf(draft: Draft) {
  const kind = draft.value('kind')
  const description = draft.value('description').trim()
  return {
    action: draft.value('action'),
    ...(isKind(kind) && { [kind]: conditionOf(kind, draft) }),
    description: description === '' ? null : description,
  }
}

/** Returns the place of a new rule, for the API. */
export function positionOf(draft: Draft) {
  const position = draft.value('position')
  if (position === '') return {}
  return { position: position === 'first' ? { index: 1 } : { after: position } }
}

/** Returns the draft with the API's faults, each value by its name. */
export function refusedRule(draft: Draft, failure: Failure): Draft {
  const kind = draft.value('kind')
  const values = isKind(kind) ? conditionOf(kind, draft) : []
  const faults = Object.entries(failure.faults).map(([pointer, sentence]) => {
    const [, member, place] = /^\/(\w+)\/(\d+)$/.exec(pointer) ?? []
    const value = member === kind && Array.isArray(values) ? values[Number(place)] : undefined
    return [pointer, value === undefined ? sentence : `${value}: ${lowered(sentence)}`]
  })
  const renamed = Object.fromEntries(Object.keys(ruleLabels).map(name => [`/${name}`, name]))
  return draft.refused({ ...failure, faults: Object.fromEntries(faults) }, renamed)
}

function conditionOf(kind: Kind, draft: Draft): string | readonly (string | number)[] {
  const text = draft.value(kind)
  switch (kind) {
    case 'list':
    case 'expression':
      return text
    case 'ip':
    case 'country':
    case 'referer':
    case 'referer_not':
      return partsOf(text, /[\s,]+/)
    case 'asn':
      return partsOf(text, /[\s,]+/).map(part =>
        /^(AS)?\d{1,10}$/i.test(part) ? Number(part.replace(/\D/g, '')) : part,
      )
    case 'user_agent':
      return [...partsOf(text, /\n/), ...(draft.has(noAgent) ? [''] : [])]
    case 'path':
      return partsOf(text, /\n/)
  }
}

function partsOf(text: string, border: RegExp): readonly string[] {
  return text
    .split(border)
    .map(part => part.trim())
    .filter(part => part !== '')
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/**
 * Makes the fields of a rule; `others` are the rules behind which a new one can be put, null for an existing
 * rule.
 */
export function ruleFields(draft: Draft, { access }: Zone, others: readonly AccessRule[] | null): Html {
  const { lists, has_geo: hasGeo } = access
  const needsGeo = hasGeo ? '' : ' Needs geo.databases in the configuration.'
  const chosen = draft.value('kind')
  const options = Object.entries(kinds).map(([value, label]) => {
    const isMissing = value === 'list' ? lists.length === 0 : ['country', 'asn'].includes(value) && !hasGeo
    const why = value === 'list' ? 'the configuration has none' : 'needs geo.databases in the configuration'
    return { value, label: isMissing ? `${label}: ${why}` : label, isDisabled: isMissing && value !== chosen }
  })
  const several = (kind: Kind, hint: string) =>
    fieldOf(
      kind,
      areaField(draft, { name: kind, label: ruleLabels[kind], hint, isDependent: true, isCode: true }),
    )
  return html`${radios(draft, {
    name: 'action',
    label: ruleLabels.action,
    options: [
      { value: 'deny', label: 'Deny', hint: 'The client gets an error.' },
      { value: 'allow', label: 'Allow', hint: 'No rule after this one is asked.' },
      {
        value: 'legal',
        label: 'Deny for legal reasons',
        hint: 'The client gets an error that says so: 1026, or 1039 by country.',
      },
    ],
  })}<div class="kinds">${selectField(draft, { name: 'kind', label: ruleLabels.kind, options })}${[
    several('ip', 'One on each line, such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32.'),
    fieldOf(
      'list',
      selectField(draft, {
        name: 'list',
        label: ruleLabels.list,
        hint: 'Lists are files of addresses that the configuration names.',
        isDependent: true,
        options: [
          ...(lists.includes(draft.value('list'))
            ? []
            : [{ value: draft.value('list'), label: draft.value('list') || 'Choose one' }]),
          ...lists.map(name => ({ value: name, label: name })),
        ],
      }),
    ),
    several('country', `Two letters (ISO 3166-1) on each line, such as DE.${needsGeo}`),
    several('asn', `One number on each line, such as 64500.${needsGeo}`),
    fieldOf(
      'user_agent',
      html`${areaField(draft, {
        name: 'user_agent',
        label: ruleLabels.user_agent,
        hint: 'One on each line, in any case of letters; * stands for any text, as in *bot*.',
        isDependent: true,
        isCode: true,
      })}${checkbox(draft, { name: noAgent, label: 'Also requests without a User-Agent' })}`,
    ),
    several('referer', 'One on each line, such as example.com, or *.example.com for all below it.'),
    several(
      'referer_not',
      'One on each line. Requests match whose Referer names a host that is not here; without a Referer they do not.',
    ),
    several(
      'path',
      'The beginning of the path on each line, such as /admin: it matches /admin and /admin/users.',
    ),
    fieldOf(
      'expression',
      expressionField(draft, {
        name: 'expression',
        label: ruleLabels.expression,
        hint: 'Such as request.path.startsWith("/admin") && !("x-office" in request.headers).',
        isDependent: true,
      }),
    ),
  ]}</div>${textField(draft, {
    name: 'description',
    label: ruleLabels.description,
    hint: 'What it is for.',
    maxLength: 500,
    isOptional: true,
  })}${
    others !== null &&
    others.length > 0 &&
    selectField(draft, {
      name: 'position',
      label: ruleLabels.position,
      hint: 'Among the rules of the API: the first that matches decides.',
      options: [
        { value: '', label: 'At the end' },
        { value: 'first', label: 'Before all others' },
        ...others
          .slice(0, -1)
          .map((rule, i) => ({ value: rule.id, label: `After ${i + 1}: ${inShort(rule)}` })),
      ],
    })
  }`
}

/**
 * The field of one kind: style sheets show it if the kind is chosen; without support for that, all of them
 * are shown.
 */
function fieldOf(kind: Kind, field: Html): Html {
  return html`<div class="kind ${kind}">${field}</div>`
}

const shortest = 60

function inShort(rule: AccessRule): string {
  const text = `${rule.action}, ${rule.description ?? `${kindOf(rule)} ${valuesOf(rule).join(', ')}`}`
  return text.length > shortest ? `${text.slice(0, shortest)}…` : text
}
