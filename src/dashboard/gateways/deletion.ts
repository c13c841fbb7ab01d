// Deletion of an AI gateway, with its logs.

import { html } from '../../base/text/html.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { confirmationPage, isTyped, notTyped } from '../parts/forms.ts'
import { grouped } from '../parts/numbers.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf, findGateway, gatewayOf, pageOf } from './page-data.ts'

export const confirmDeletion: Handler = request => deletion(request, new Draft())

export const deleteGateway: Handler = async request => {
  const draft = Draft.of(request.form)
  if (!isTyped(draft, request.params.gateway!)) return deletion(request, notTyped(draft))
  const deleted = await request.api.delete(gatewayOf(request))
  return deleted.ok ? redirectWith(paths.gateways(request.account.id), 'gateway-deleted') : deleted
}

async function deletion(request: PageRequest, draft: Draft) {
  const [response, logs] = await Promise.all([
    findGateway(request),
    request.api.get<readonly unknown[]>(gatewayOf(request, 'logs'), { per_page: 1 }),
  ])
  const { id } = response.result
  const { total_count: total } = logs.info!
  return confirmationPage({
    title: 'Delete this gateway?',
    crumbs: crumbsOf(request, true),
    frame: request.frameFor(request.path),
    draft,
    what: html`<p>Calls to <b>${id}</b> are refused at once. ${total === 0 ? 'It has no log entries.' : html`<b>${grouped(total)}</b> log ${total === 1 ? 'entry goes' : 'entries go'} with it.`} Tokens stay: they are of the account. This cannot be undone.</p>`,
    send: 'Delete the gateway',
    cancel: pageOf(request),
    typed: { label: 'Type the id to confirm', word: id },
  })
}
