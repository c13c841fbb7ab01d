// The guard of an AI gateway as a form: what happens to each pattern, in requests and in responses.

import { type Html, html } from '../../../base/text/html.ts'
import { everyPattern, patterns } from '../../../guard/patterns.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { Draft, etagField } from '../../parts/draft.ts'
import { cellSelect, checkbox } from '../../parts/fields.ts'
import { draftForm } from '../../parts/forms.ts'
import { table } from '../../parts/lists.ts'
import type { Gateway, Guard, GuardCheck } from '../gateway.ts'
import { crumbsOf, findGateway, gatewayOf, pageOf } from '../page-data.ts'
import { actions, type Choice, checks, choicesOf, fieldOf, isStricter, policiesOf, rows } from './choices.ts'
import { actionWords, checkWords } from './words.ts'

export const showGuard: Handler = async request => {
  const { result, etag } = await findGateway(request)
  return guardView(request, new Draft({ ...valuesOf(result.dlp), [etagField]: etag ?? '' }))
}

export const changeGuard: Handler = async request => {
  const { result: gateway, etag } = await findGateway(request)
  const draft = withWeaker(Draft.of(request.form))
  if (draft.status !== undefined) return guardView(request, draft)
  const body = { ...gateway, dlp: guardOf(draft, gateway.dlp) }
  const changed = await request.api.put<Gateway>(gatewayOf(request), body, { ifMatch: draft.etag })
  if (changed.ok) return redirectWith(pageOf(request), 'guard-changed')
  if (changed.status === 404) return changed
  const shown = { enabled: '', ...valuesOf(gateway.dlp) }
  const returned = changed.status === 412 ? draft.overtaken(shown, etag) : draft.refused(changed, renamed)
  return guardView(request, returned)
}

/** The guard in the body of a gateway is more than the fields that stand for it. */
const renamed = { '/dlp': 'enabled' } as const

const titles: ReadonlyMap<string, string> = new Map(patterns.map(({ name, title }) => [name, title]))

const labels: Readonly<Record<string, string>> = {
  enabled: 'The guard is on',
  ...Object.fromEntries(checks.flatMap(check => rows.map(row => [fieldOf(check, row), labelOf(check, row)]))),
}

function valuesOf(guard: Guard | null): Record<string, string> {
  return { ...(guard?.enabled !== false && { enabled: 'on' }), ...choicesOf(guard) }
}

/** Returns the draft with faults at choices for one pattern that that for all patterns makes void. */
function withWeaker(draft: Draft): Draft {
  let judged = draft
  for (const check of checks) {
    const all = choiceOf(draft, check, everyPattern)
    for (const row of rows.slice(1)) {
      const own = choiceOf(draft, check, row)
      if (own !== '' && isStricter(all, own)) judged = judged.withFault(fieldOf(check, row), weaker)
    }
  }
  return judged
}

const weaker = 'What happens to all patterns is stricter, and counts.'

/** Members of the guard that the form does not show stay as they are. */
function guardOf(draft: Draft, before: Guard | null): Guard | null {
  const fields = checks.flatMap(check => rows.map(row => [fieldOf(check, row), choiceOf(draft, check, row)]))
  const policies = policiesOf(Object.fromEntries(fields), before)
  return before === null && policies.length === 0
    ? null
    : { ...before, enabled: draft.has('enabled'), policies }
}

/** Nothing is chosen by what is no action. */
function choiceOf(draft: Draft, check: GuardCheck, row: string): Choice {
  const value = draft.value(fieldOf(check, row))
  return actions.find(action => action === value) ?? ''
}

function guardView(request: PageRequest, draft: Draft): View {
  return {
    title: 'Guard',
    crumbs: crumbsOf(request, true),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels,
        send: 'Save',
        cancel: pageOf(request),
      },
      html`<p>The guard looks for these in calls. It can flag them, which only notes them; replace them by a mark; or block the call. ${guideTo(request)} has the details.</p>${checkbox(
        draft,
        {
          name: 'enabled',
          label: labels.enabled!,
          hint: 'Without this, nothing is looked for, and the choices stay here.',
        },
      )}${table(
        'What happens to what is found',
        [
          { title: 'Pattern', cell: rowTitle, isName: true },
          ...checks.map(check => ({
            title: checkWords[check],
            cell: (row: string) =>
              cellSelect(draft, {
                name: fieldOf(check, row),
                label: labelOf(check, row),
                options: [
                  { value: '', label: row === everyPattern ? 'Off' : 'As for all' },
                  ...actions.map(action => ({ value: action, label: actionWords[action] })),
                ],
              }),
          })),
        ],
        rows,
      )}`,
    ),
  }
}

function guideTo(request: PageRequest): Html {
  return html`<a href="${paths.guide(request.account.id, 'guard')}">Guard</a>`
}

function rowTitle(row: string): Html {
  return row === everyPattern
    ? html`All patterns<p class="hint">Also those that later versions add.</p>`
    : html`${titles.get(row)!}<p class="hint"><code>${row}</code></p>`
}

function labelOf(check: GuardCheck, row: string): string {
  return `${titles.get(row) ?? 'All patterns'}: ${checkWords[check].toLowerCase()}`
}
