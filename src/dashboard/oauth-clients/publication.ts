// Making an OAuth client public: the verification of its host, and its publication.

import { html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmationPage } from '../parts/forms.ts'
import { clientOf, crumbsOf, findClient, pageOf } from './page-data.ts'
import type { Client } from './client.ts'

/** Sends the home page unchanged, which restarts its verification. */
export const restartVerification: Handler = async request => {
  const response = await findClient(request)
  const { client_uri } = response.result
  if (client_uri === undefined) return redirectTo(pageOf(request))
  const restarted = await request.api.patch<Client>(
    clientOf(request),
    { client_uri },
    { ifMatch: response.etag ?? undefined },
  )
  return restarted.ok ? redirectWith(pageOf(request), 'verification-restarted') : restarted
}

export const confirmPublication: Handler = request => publication(request, new Draft())

export const publish: Handler = async request => {
  const draft = Draft.of(request.form)
  const body = { visibility: 'public' }
  const published = await request.api.patch<Client>(clientOf(request), body, { ifMatch: draft.etag })
  if (published.ok) return redirectWith(pageOf(request), 'client-published')
  return publication(request, published.status === 412 ? draft.overtaken({}, null) : draft.refused(published))
}

async function publication(request: PageRequest, draft: Draft) {
  const response = await findClient(request)
  return confirmationPage({
    title: 'Publish this client?',
    crumbs: crumbsOf(request, response.result),
    frame: request.frameFor(request.path),
    draft: draft.with({ [etagField]: response.etag ?? '' }),
    what: html`<p>Everybody may then allow ${isolated(response.result.client_name)} to act for them, in their own accounts. <strong>This is permanent</strong>: it cannot become private again, and must keep a home page whose host is verified.</p>`,
    send: 'Publish it for everybody',
    cancel: pageOf(request),
  })
}
