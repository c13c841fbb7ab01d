// The two steps of creating an OAuth client: its details, and its scopes.

import { html } from '../../base/text/html.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { Draft, keyField } from '../parts/draft.ts'
import { draftForm } from '../parts/forms.ts'
import { paths } from '../page/paths.ts'
import { clientsOf, crumbsOf, listScopes } from './page-data.ts'
import type { Client } from './client.ts'
import {
  blankDetails,
  bodyOfDetails,
  compactDetails,
  detailFields,
  detailLabels,
  renamedDetails,
} from './details.ts'
import { createdView } from './new-credentials.ts'
import { isPicking, presetField } from '../parts/picker.ts'
import {
  bodyOfScopes,
  chooseOne,
  pickScopes,
  renamedScopes,
  scopeLabels,
  scopePicker,
} from './scope-picker.ts'

export const showNewClient: Handler = async request => detailsView(request, blankDetails)

/**
 * Checks the first step with the API, which rejects the missing scopes, and continues with the second if that
 * is the only fault.
 */
export const continueToScopes: Handler = async request => {
  const draft = compactDetails(Draft.of(request.form))
  if (draft.isGrowing) return detailsView(request, draft)
  const checked = await request.api.post<Client>(clientsOf(request), bodyOfDetails(draft))
  if (checked.ok) throw new Error('a client without scopes was created')
  const { '/scopes': lack, ...faults } = checked.faults
  if (lack === undefined || Object.keys(faults).length > 0)
    return detailsView(request, draft.refused({ ...checked, faults }, renamedDetails))
  return scopesView(request, draft)
}

/** A second step that is loaded by its address has lost the first. */
export const startAgain: Handler = async ({ account }) => redirectTo(paths.newClient(account.id))

export const createClient: Handler = async request => {
  const draft = compactDetails(Draft.of(request.form))
  if (draft.has('back')) return detailsView(request, draft)
  if (isPicking(draft)) return scopesView(request, draft)
  const body = { ...bodyOfDetails(draft), ...bodyOfScopes(draft) }
  const outcome = await request.api.post<Client>(clientsOf(request), body, { idempotencyKey: draft.key })
  if (outcome.ok) return createdView(request, outcome.result)
  const refused = draft.refused(outcome, { ...renamedDetails, ...renamedScopes })
  if (draft.ticked('scopes').length === 0 && refused.fault('scopes') !== undefined)
    return scopesView(request, refused.withFault('scopes', chooseOne))
  const isOfScopes = Object.keys(refused.faults).every(pointer => pointer === '' || pointer === '/scopes')
  return isOfScopes ? scopesView(request, refused) : detailsView(request, refused)
}

function detailsView(request: PageRequest, draft: Draft): View {
  const { id } = request.account
  return {
    title: 'Create an OAuth client',
    crumbs: crumbsOf(request),
    status: draft.status,
    content: html`<p class="lead">Step 1 of 2: what it is</p>${draftForm(
      {
        frame: { ...request.frameFor(paths.newClient(id)), hidden: carried(draft, isOfScopes) },
        draft,
        labels: detailLabels,
        send: 'Continue to scopes',
        cancel: paths.clients(id),
      },
      detailFields(draft),
    )}`,
  }
}

async function scopesView(request: PageRequest, draft: Draft) {
  const scopes = await listScopes(request)
  return {
    title: 'Create an OAuth client',
    crumbs: crumbsOf(request),
    status: draft.status,
    content: html`<p class="lead">Step 2 of 2: what ${draft.value('client_name')} may ask for</p>${draftForm(
      {
        frame: {
          ...request.frameFor(paths.newClientScopes(request.account.id)),
          hidden: carried(draft, name => !isOfScopes(name)),
        },
        draft,
        labels: scopeLabels,
        isOnce: true,
        send: 'Create the client',
        beside: html`<button class="plain" name="back" value="on" formnovalidate>Back to step 1</button>`,
        cancel: paths.clients(request.account.id),
      },
      scopePicker(pickScopes(draft, scopes.result), scopes.result),
    )}`,
  }
}

function carried(draft: Draft, isCarried: (name: string) => boolean): Readonly<Record<string, string>> {
  const own = new Set(['back', 'more', presetField, keyField])
  return Object.fromEntries(
    Object.entries(draft.values).filter(([name]) => !own.has(name) && isCarried(name)),
  )
}

function isOfScopes(name: string): boolean {
  return /^(optional_)?scopes\./.test(name)
}
