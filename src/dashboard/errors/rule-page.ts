// One API-managed error rule, and its deletion.

import { html } from '../../base/text/html.ts'
import { facts } from '../../pages/parts/components.ts'
import { apiPath, missing } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmationPage, dangerZone } from '../parts/forms.ts'
import { codeBlock } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { findZone, type Rule, zoneCrumbs } from './page-data.ts'

/** Reads the rules of the zone of a path, with their entity tag. */
export async function findRules(request: PageRequest) {
  await findZone(request)
  return request.api.get<Rule[]>(rulesOf(request))
}

/** Finds the rule of a path, with the entity tag of all rules of its zone. */
export async function findRule(request: PageRequest) {
  const rules = await findRules(request)
  const rule = rules.result.find(({ id }) => id === request.params.errorrule)
  return { rule: rule ?? missing(), etag: rules.etag }
}

export function rulesOf({ params }: PageRequest): string {
  return apiPath('zones', params.zone!, 'error_rules')
}

export function ruleOf({ params }: PageRequest): string {
  return apiPath('zones', params.zone!, 'error_rules', params.errorrule!)
}

export const showRule: Handler = async request => {
  const { rule } = await findRule(request)
  const { id } = request.account
  const mayWrite = request.may('Custom Errors Write')
  return {
    title: rule.description ?? 'Error rule',
    crumbs: zoneCrumbs(request),
    ...(mayWrite && {
      actions: html`<a class="button" href="${paths.editErrorRule(id, request.params.zone!, rule.id)}">Edit and test</a>`,
    }),
    content: html`<div class="card">${facts([
      ['Serves', rule.content_type],
      ['Status', rule.status_code ?? 'that of the error'],
      ['Id', html`<code>${rule.id}</code>`],
    ])}${codeBlock('Expression', rule.expression)}${codeBlock('Content', rule.content)}</div>${dangerZone(
      mayWrite
        ? [
            {
              title: 'Delete',
              text: 'Errors that it decided get what the next rule or page says.',
              path: paths.deleteErrorRule(id, request.params.zone!, rule.id),
              link: 'Delete…',
            },
          ]
        : [],
    )}`,
  }
}

export const confirmRuleDeletion: Handler = request => deletion(request, new Draft())

async function deletion(request: PageRequest, draft: Draft) {
  const { rule, etag } = await findRule(request)
  return confirmationPage({
    title: 'Delete this rule?',
    crumbs: zoneCrumbs(request),
    frame: request.frameFor(request.path),
    draft: draft.with({ [etagField]: etag ?? '' }),
    what: html`<p>Errors that match <code class="long">${rule.expression}</code> get what the next rule or page says, at once. This cannot be undone.</p>`,
    send: 'Delete the rule',
    cancel: paths.errorRule(request.account.id, request.params.zone!, rule.id),
  })
}

export const deleteRule: Handler = async request => {
  await findZone(request)
  const draft = Draft.of(request.form)
  const deleted = await request.api.delete(ruleOf(request), { ifMatch: draft.etag })
  if (!deleted.ok && deleted.status === 412) return deletion(request, draft.overtaken({}, null))
  if (!deleted.ok) return deleted
  return redirectWith(paths.errorZone(request.account.id, request.params.zone!), 'error-rule-deleted')
}
