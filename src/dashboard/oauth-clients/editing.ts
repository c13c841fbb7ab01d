// Handlers that change what an OAuth client is, and what it may ask for.

import type { Ask, Handler, View } from '../page/page-request.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import { done } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { draftForm } from '../parts/forms.ts'
import { isPicking } from '../parts/picker.ts'
import { clientOf, crumbsOf, findClient, type ListedScope, listScopes, pageOf } from './page-data.ts'
import type { Client } from './client.ts'
import { newSecretView } from './new-credentials.ts'
import {
  bodyOfDetails,
  compactDetails,
  detailFields,
  detailLabels,
  draftOfDetails,
  renamedDetails,
} from './details.ts'
import {
  bodyOfScopes,
  chooseOne,
  pickScopes,
  renamedScopes,
  scopeLabels,
  scopePicker,
  valuesOfScopes,
} from './scope-picker.ts'

export const showDetails: Handler = async ask => {
  const found = await findClient(ask)
  if (!found.ok) return found
  return detailsView(ask, found.result, draftOfDetails(found.result).with({ [etagField]: found.etag ?? '' }))
}

export const changeDetails: Handler = async ask => {
  const found = await findClient(ask)
  if (!found.ok) return found
  const draft = compactDetails(Draft.of(ask.form))
  if (draft.isGrowing) return detailsView(ask, found.result, draft)
  const body = changesIn(bodyOfDetails(draft), found.result)
  const changed = await ask.api.patch<Client>(clientOf(ask), body, { ifMatch: draft.etag })
  if (changed.ok) {
    const { client_secret: secret } = changed.result
    if (secret === undefined) return redirectTo(done(pageOf(ask), 'client-changed'))
    return newSecretView(ask, changed.result, secret, 'The app shows it from now on, as all server apps do.')
  }
  if (changed.status === 412)
    return detailsView(ask, found.result, draft.overtaken(draftOfDetails(found.result).values, found.etag))
  return detailsView(ask, found.result, draft.refused(changed, renamedDetails))
}

export const showScopes: Handler = async ask => {
  const [found, scopes] = await Promise.all([findClient(ask), listScopes(ask)])
  if (!found.ok) return found
  if (!scopes.ok) return scopes
  const draft = new Draft({ ...valuesOfScopes(found.result), [etagField]: found.etag ?? '' })
  return scopesView(ask, found.result, scopes.result, draft)
}

export const changeScopes: Handler = async ask => {
  const [found, scopes] = await Promise.all([findClient(ask), listScopes(ask)])
  if (!found.ok) return found
  if (!scopes.ok) return scopes
  const draft = Draft.of(ask.form)
  if (isPicking(draft)) return scopesView(ask, found.result, scopes.result, pickScopes(draft, scopes.result))
  const changed = await ask.api.patch<Client>(clientOf(ask), bodyOfScopes(draft), { ifMatch: draft.etag })
  if (changed.ok) return redirectTo(done(pageOf(ask), 'client-scopes-changed'))
  const again = changed.status === 412 ? draft.with({ [etagField]: found.etag ?? '' }) : draft
  const refused = again.refused(changed, renamedScopes)
  const isEmpty = draft.ticked('scopes').length === 0 && refused.fault('scopes') !== undefined
  return scopesView(
    ask,
    found.result,
    scopes.result,
    isEmpty ? refused.withFault('scopes', chooseOne) : refused,
  )
}

function detailsView(ask: Ask, client: Client, draft: Draft): View {
  return {
    title: 'Edit the client',
    crumbs: crumbsOf(ask, client),
    ...(draft.status !== undefined && { status: draft.status }),
    content: draftForm(
      {
        frame: ask.frameFor(ask.path),
        draft,
        labels: detailLabels,
        send: 'Save',
        cancel: pageOf(ask),
      },
      detailFields(draft),
    ),
  }
}

function scopesView(ask: Ask, client: Client, scopes: readonly ListedScope[], draft: Draft): View {
  return {
    title: 'Change the scopes',
    crumbs: crumbsOf(ask, client),
    ...(draft.status !== undefined && { status: draft.status }),
    content: draftForm(
      { frame: ask.frameFor(ask.path), draft, labels: scopeLabels, send: 'Save', cancel: pageOf(ask) },
      scopePicker(draft, scopes),
    ),
  }
}

/** Leaves the home page out where it stays: said again, it would ask for another verification of its host. */
function changesIn(
  { client_uri, ...body }: ReturnType<typeof bodyOfDetails> & { client_uri?: unknown },
  client: Client,
) {
  return client_uri === (client.client_uri ?? null) ? body : { ...body, client_uri }
}
