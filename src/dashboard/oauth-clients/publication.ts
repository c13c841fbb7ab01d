// What makes an OAuth client one for everybody: the proof of its host, and its publication.

import { html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { Ask, Handler } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmation } from '../parts/forms.ts'
import { clientOf, crumbsOf, findClient, pageOf } from './page-data.ts'
import type { Client } from './client.ts'

/** Sends the home page as it is, which restarts its verification. */
export const restartVerification: Handler = async ask => {
  const found = await findClient(ask)
  if (!found.ok) return found
  const { client_uri } = found.result
  if (client_uri === undefined) return redirectTo(pageOf(ask))
  const restarted = await ask.api.patch<Client>(
    clientOf(ask),
    { client_uri },
    { ifMatch: found.etag ?? undefined },
  )
  return restarted.ok ? redirectTo(done(pageOf(ask), 'verification-restarted')) : restarted
}

export const confirmPublication: Handler = ask => publication(ask, new Draft())

export const publish: Handler = async ask => {
  const draft = Draft.of(ask.form)
  const body = { visibility: 'public' }
  const published = await ask.api.patch<Client>(clientOf(ask), body, { ifMatch: draft.etag })
  if (published.ok) return redirectTo(done(pageOf(ask), 'client-published'))
  return publication(ask, published.status === 412 ? draft.overtaken({}, null) : draft.refused(published))
}

async function publication(ask: Ask, draft: Draft) {
  const found = await findClient(ask)
  if (!found.ok) return found
  return {
    title: 'Publish this client?',
    crumbs: crumbsOf(ask, found.result),
    ...(draft.status !== undefined && { status: draft.status }),
    content: confirmation({
      frame: ask.frameFor(ask.path),
      draft: draft.with({ [etagField]: found.etag ?? '' }),
      what: html`<p>Everybody may then allow ${isolated(found.result.client_name)} to act for them, in their own accounts. <strong>This is permanent</strong>: it cannot become private again, and must keep a home page whose host is verified.</p>`,
      send: 'Publish it for everybody',
      cancel: pageOf(ask),
    }),
  }
}
