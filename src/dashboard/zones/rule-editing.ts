// Handlers that create, change and delete an access rule of the API.

import { html } from '../../base/text/html.ts'
import { facts } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { Ask, View } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmation, draftForm } from '../parts/forms.ts'
import { notFound } from '../page/refusal-pages.ts'
import { paths } from '../page/paths.ts'
import { type AccessRule, actionBadge, conditionInWords } from './access-rule.ts'
import { listDeciders, listRules, toRule } from './access-rules.ts'
import { crumbsOf, inZone, zoneOf } from './page-data.ts'
import {
  bodyOf,
  newDraft,
  positionOf,
  refusedRule,
  ruleFields,
  ruleLabels,
  valuesOfRule,
} from './rule-form.ts'
import type { Zone } from './zone.ts'

export const showNewRule = inZone(async (ask, zone) => {
  const rules = await listRules(ask)
  if (!rules.ok) return rules
  return newRuleView(ask, zone, rules.result, newDraft().with(tagged(rules.etag)))
})

export const createRule = inZone(async (ask, zone) => {
  const draft = Draft.of(ask.form)
  const body = { ...bodyOf(draft), ...positionOf(draft) }
  const made = await ask.api.post<AccessRule>(zoneOf(ask, 'access_rules'), body, { ifMatch: draft.etag })
  if (made.ok) return toRule(ask, zone, made.result.id, 'access-rule-created')
  const rules = await listRules(ask)
  if (!rules.ok) return rules
  const next = made.status === 412 ? draft.overtaken({}, rules.etag) : refusedRule(draft, made)
  return newRuleView(ask, zone, rules.result, next)
})

export const showRule = inZone(async (ask, zone) => {
  const found = await findRule(ask)
  if (!('rule' in found)) return found
  const { rule, etag } = found
  return ruleView(ask, zone, new Draft({ ...valuesOfRule(rule), ...tagged(etag) }))
})

export const changeRule = inZone(async (ask, zone) => {
  const draft = Draft.of(ask.form)
  const changed = await ask.api.put<AccessRule>(ruleOf(ask), bodyOf(draft), { ifMatch: draft.etag })
  if (changed.ok) return toRule(ask, zone, ask.params.rule!, 'access-rule-changed')
  const found = await findRule(ask)
  if (!('rule' in found)) return found
  const next =
    changed.status === 412
      ? draft.overtaken(valuesOfRule(found.rule), found.etag)
      : refusedRule(draft, changed)
  return ruleView(ask, zone, next)
})

export const confirmDeletion = inZone((ask, zone) => deletion(ask, zone, new Draft()))

export const deleteRule = inZone(async (ask, zone) => {
  const draft = Draft.of(ask.form)
  const deleted = await ask.api.delete(ruleOf(ask), { ifMatch: draft.etag })
  if (deleted.ok) return redirectTo(done(listOf(ask, zone), 'access-rule-deleted'))
  return deleted.status === 412 ? deletion(ask, zone, draft.overtaken({}, null)) : deleted
})

async function deletion(ask: Ask, zone: Zone, draft: Draft) {
  const [found, deciders] = await Promise.all([findRule(ask), listDeciders(ask)])
  if (!('rule' in found)) return found
  if (!deciders.ok) return deciders
  const { rule, etag } = found
  const hits = deciders.result.find(({ id }) => id === rule.id)?.hits ?? 0
  const what = html`<p>Requests that it decided on are decided by the rules after it. In the last 24 hours these were ${hits === 0 ? 'none' : hits}.</p>${facts(
    [
      ['Does', actionBadge(rule.action)],
      ['Where', conditionInWords(rule)],
      ['Description', rule.description],
    ],
  )}`
  return {
    title: 'Delete this rule?',
    crumbs: crumbsOfRules(ask, zone),
    ...(draft.status !== undefined && { status: draft.status }),
    content: confirmation({
      frame: ask.frameFor(ask.path),
      draft: draft.with(tagged(etag)),
      what,
      send: 'Delete the rule',
      cancel: listOf(ask, zone),
    }),
  }
}

function newRuleView(ask: Ask, zone: Zone, rules: readonly AccessRule[], draft: Draft): View {
  return formView(ask, zone, draft, rules, 'Create an access rule', 'Create the rule')
}

function ruleView(ask: Ask, zone: Zone, draft: Draft): View {
  return formView(ask, zone, draft, null, 'Edit the access rule', 'Save')
}

function formView(
  ask: Ask,
  zone: Zone,
  draft: Draft,
  others: readonly AccessRule[] | null,
  title: string,
  send: string,
): View {
  return {
    title,
    crumbs: crumbsOfRules(ask, zone),
    ...(draft.status !== undefined && { status: draft.status }),
    content: draftForm(
      { frame: ask.frameFor(ask.path), draft, labels: ruleLabels, send, cancel: listOf(ask, zone) },
      ruleFields(draft, zone, others),
    ),
  }
}

/** Finds the rule of the path in the list, whose tag is its own too. */
async function findRule(ask: Ask) {
  const rules = await listRules(ask)
  if (!rules.ok) return rules
  const rule = rules.result.find(({ id }) => id === ask.params.rule)
  return rule === undefined ? notFound : { rule, etag: rules.etag }
}

function ruleOf(ask: Ask): string {
  return zoneOf(ask, 'access_rules', ask.params.rule!)
}

function listOf({ account }: Ask, { name }: Zone): string {
  return paths.accessRules(account.id, name)
}

function crumbsOfRules(ask: Ask, zone: Zone) {
  return [...crumbsOf(ask, zone), { title: 'Access rules', path: listOf(ask, zone) }]
}

function tagged(etag: string | null) {
  return { [etagField]: etag ?? '' }
}
