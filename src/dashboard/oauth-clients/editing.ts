// Handlers that change the details and the scopes of an OAuth client.

import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
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

export const showDetails: Handler = async request => {
  const response = await findClient(request)
  return detailsView(
    request,
    response.result,
    draftOfDetails(response.result).with({ [etagField]: response.etag ?? '' }),
  )
}

export const changeDetails: Handler = async request => {
  const response = await findClient(request)
  const draft = compactDetails(Draft.of(request.form))
  if (draft.isGrowing) return detailsView(request, response.result, draft)
  const body = changesIn(bodyOfDetails(draft), response.result)
  const changed = await request.api.patch<Client>(clientOf(request), body, { ifMatch: draft.etag })
  if (changed.ok) {
    const { client_secret: secret } = changed.result
    if (secret === undefined) return redirectWith(pageOf(request), 'client-changed')
    return newSecretView(
      request,
      changed.result,
      secret,
      'The app shows it from now on, as all server apps do.',
    )
  }
  if (changed.status === 412)
    return detailsView(
      request,
      response.result,
      draft.overtaken(draftOfDetails(response.result).values, response.etag),
    )
  return detailsView(request, response.result, draft.refused(changed, renamedDetails))
}

export const showScopes: Handler = async request => {
  const [response, scopes] = await Promise.all([findClient(request), listScopes(request)])
  const draft = new Draft({ ...valuesOfScopes(response.result), [etagField]: response.etag ?? '' })
  return scopesView(request, response.result, scopes.result, draft)
}

export const changeScopes: Handler = async request => {
  const [response, scopes] = await Promise.all([findClient(request), listScopes(request)])
  const draft = Draft.of(request.form)
  if (isPicking(draft))
    return scopesView(request, response.result, scopes.result, pickScopes(draft, scopes.result))
  const changed = await request.api.patch<Client>(clientOf(request), bodyOfScopes(draft), {
    ifMatch: draft.etag,
  })
  if (changed.ok) return redirectWith(pageOf(request), 'client-scopes-changed')
  const again = changed.status === 412 ? draft.with({ [etagField]: response.etag ?? '' }) : draft
  const refused = again.refused(changed, renamedScopes)
  const isEmpty = draft.ticked('scopes').length === 0 && refused.fault('scopes') !== undefined
  return scopesView(
    request,
    response.result,
    scopes.result,
    isEmpty ? refused.withFault('scopes', chooseOne) : refused,
  )
}

function detailsView(request: PageRequest, client: Client, draft: Draft): View {
  return {
    title: 'Edit the client',
    crumbs: crumbsOf(request, client),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: detailLabels,
        send: 'Save',
        cancel: pageOf(request),
      },
      detailFields(draft),
    ),
  }
}

function scopesView(
  request: PageRequest,
  client: Client,
  scopes: readonly ListedScope[],
  draft: Draft,
): View {
  return {
    title: 'Change the scopes',
    crumbs: crumbsOf(request, client),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: scopeLabels,
        send: 'Save',
        cancel: pageOf(request),
      },
      scopePicker(draft, scopes),
    ),
  }
}

/** Leaves out an unchanged home page: repeating it would request another verification of its host. */
function changesIn(
  { client_uri, ...body }: ReturnType<typeof bodyOfDetails> & { client_uri?: unknown },
  client: Client,
) {
  return client_uri === (client.client_uri ?? null) ? body : { ...body, client_uri }
}
