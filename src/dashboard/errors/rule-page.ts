// One error rule that the API has set, and its end.

import { html } from '../../base/text/html.ts'
import { facts } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import { apiPath } from '../page/api-client.ts'
import type { Ask, Handler } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmation, dangerZone } from '../parts/forms.ts'
import { codeBlock } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { notFound } from '../page/refusal-pages.ts'
import { findZone, type Rule, zoneCrumbs } from './page-data.ts'

/** Reads the rules of the zone of a path, with their entity tag. */
export async function findRules(ask: Ask) {
  const zone = await findZone(ask)
  return zone.ok ? ask.api.get<Rule[]>(rulesOf(ask)) : zone
}

/** Finds the rule of a path, with the entity tag of all rules of its zone. */
export async function findRule(ask: Ask) {
  const rules = await findRules(ask)
  if (!rules.ok) return rules
  const rule = rules.result.find(({ id }) => id === ask.params.errorrule)
  return { ok: true, rule: rule ?? null, etag: rules.etag } as const
}

export function rulesOf({ params }: Ask): string {
  return apiPath('zones', params.zone!, 'error_rules')
}

export function ruleOf({ params }: Ask): string {
  return apiPath('zones', params.zone!, 'error_rules', params.errorrule!)
}

export const showRule: Handler = async ask => {
  const found = await findRule(ask)
  if (!found.ok) return found
  const { rule } = found
  if (rule === null) return notFound
  const { id } = ask.account
  const mayWrite = ask.may('Custom Errors Write')
  return {
    title: rule.description ?? 'Error rule',
    crumbs: zoneCrumbs(ask),
    ...(mayWrite && {
      actions: html`<a class="button" href="${paths.editErrorRule(id, ask.params.zone!, rule.id)}">Edit and test</a>`,
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
              path: paths.deleteErrorRule(id, ask.params.zone!, rule.id),
              link: 'Delete…',
            },
          ]
        : [],
    )}`,
  }
}

export const confirmRuleDeletion: Handler = ask => deletion(ask, new Draft())

async function deletion(ask: Ask, draft: Draft) {
  const found = await findRule(ask)
  if (!found.ok) return found
  const { rule, etag } = found
  if (rule === null) return notFound
  return {
    title: 'Delete this rule?',
    crumbs: zoneCrumbs(ask),
    ...(draft.status !== undefined && { status: draft.status }),
    content: confirmation({
      frame: ask.frameFor(ask.path),
      draft: draft.with({ [etagField]: etag ?? '' }),
      what: html`<p>Errors that match <code class="long">${rule.expression}</code> get what the next rule or page says, at once. This cannot be undone.</p>`,
      send: 'Delete the rule',
      cancel: paths.errorRule(ask.account.id, ask.params.zone!, rule.id),
    }),
  }
}

export const deleteRule: Handler = async ask => {
  const zone = await findZone(ask)
  if (!zone.ok) return zone
  const draft = Draft.of(ask.form)
  const deleted = await ask.api.delete(ruleOf(ask), { ifMatch: draft.etag })
  if (!deleted.ok && deleted.status === 412) return deletion(ask, draft.overtaken({}, null))
  if (!deleted.ok) return deleted
  return redirectTo(done(paths.errorZone(ask.account.id, ask.params.zone!), 'error-rule-deleted'))
}
