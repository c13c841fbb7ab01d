// Handlers that create, change and delete an access rule of the API.

import { html } from '../../base/text/html.ts'
import { facts } from '../../pages/parts/components.ts'
import { missing } from '../page/api-client.ts'
import type { PageRequest, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmationPage, draftForm } from '../parts/forms.ts'
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

export const showNewRule = inZone(async (request, zone) => {
  const rules = await listRules(request)
  return newRuleView(request, zone, rules.result, newDraft().with(tagged(rules.etag)))
})

export const createRule = inZone(async (request, zone) => {
  const draft = Draft.of(request.form)
  const body = { ...bodyOf(draft), ...positionOf(draft) }
  const outcome = await request.api.post<AccessRule>(zoneOf(request, 'access_rules'), body, {
    ifMatch: draft.etag,
  })
  if (outcome.ok) return toRule(request, zone, outcome.result.id, 'access-rule-created')
  const rules = await listRules(request)
  const next = outcome.status === 412 ? draft.overtaken({}, rules.etag) : refusedRule(draft, outcome)
  return newRuleView(request, zone, rules.result, next)
})

export const showRule = inZone(async (request, zone) => {
  const { rule, etag } = await findRule(request)
  return ruleView(request, zone, new Draft({ ...valuesOfRule(rule), ...tagged(etag) }))
})

export const changeRule = inZone(async (request, zone) => {
  const draft = Draft.of(request.form)
  const changed = await request.api.put<AccessRule>(ruleOf(request), bodyOf(draft), { ifMatch: draft.etag })
  if (changed.ok) return toRule(request, zone, request.params.rule!, 'access-rule-changed')
  const { rule, etag } = await findRule(request)
  const next =
    changed.status === 412 ? draft.overtaken(valuesOfRule(rule), etag) : refusedRule(draft, changed)
  return ruleView(request, zone, next)
})

export const confirmDeletion = inZone((request, zone) => deletion(request, zone, new Draft()))

export const deleteRule = inZone(async (request, zone) => {
  const draft = Draft.of(request.form)
  const deleted = await request.api.delete(ruleOf(request), { ifMatch: draft.etag })
  if (deleted.ok) return redirectWith(listOf(request, zone), 'access-rule-deleted')
  return deleted.status === 412 ? deletion(request, zone, draft.overtaken({}, null)) : deleted
})

async function deletion(request: PageRequest, zone: Zone, draft: Draft) {
  const [{ rule, etag }, deciders] = await Promise.all([findRule(request), listDeciders(request)])
  const hits = deciders.result.find(({ id }) => id === rule.id)?.hits ?? 0
  const what = html`<p>Requests that it decided on are decided by the rules after it. In the last 24 hours these were ${hits === 0 ? 'none' : hits}.</p>${facts(
    [
      ['Does', actionBadge(rule.action)],
      ['Where', conditionInWords(rule)],
      ['Description', rule.description],
    ],
  )}`
  return confirmationPage({
    title: 'Delete this rule?',
    crumbs: crumbsOfRules(request, zone),
    frame: request.frameFor(request.path),
    draft: draft.with(tagged(etag)),
    what,
    send: 'Delete the rule',
    cancel: listOf(request, zone),
  })
}

function newRuleView(request: PageRequest, zone: Zone, rules: readonly AccessRule[], draft: Draft): View {
  return formView(request, zone, draft, rules, 'Create an access rule', 'Create the rule')
}

function ruleView(request: PageRequest, zone: Zone, draft: Draft): View {
  return formView(request, zone, draft, null, 'Edit the access rule', 'Save')
}

function formView(
  request: PageRequest,
  zone: Zone,
  draft: Draft,
  others: readonly AccessRule[] | null,
  title: string,
  send: string,
): View {
  return {
    title,
    crumbs: crumbsOfRules(request, zone),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: ruleLabels,
        send,
        cancel: listOf(request, zone),
      },
      ruleFields(draft, zone, others),
    ),
  }
}

/** Finds the rule of the path in the list, whose tag is also that of the rule. */
async function findRule(request: PageRequest) {
  const rules = await listRules(request)
  const rule = rules.result.find(({ id }) => id === request.params.rule)
  return { rule: rule ?? missing(), etag: rules.etag }
}

function ruleOf(request: PageRequest): string {
  return zoneOf(request, 'access_rules', request.params.rule!)
}

function listOf({ account }: PageRequest, { name }: Zone): string {
  return paths.accessRules(account.id, name)
}

function crumbsOfRules(request: PageRequest, zone: Zone) {
  return [...crumbsOf(request, zone), { title: 'Access rules', path: listOf(request, zone) }]
}

function tagged(etag: string | null) {
  return { [etagField]: etag ?? '' }
}
