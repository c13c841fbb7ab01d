// The end of an AI gateway, with its logs.

import { html } from '../../base/text/html.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { Ask, Handler } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { confirmation, isTyped, notTyped } from '../parts/forms.ts'
import { grouped } from '../parts/numbers.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf, findGateway, gatewayOf, pageOf } from './page-data.ts'

export const confirmDeletion: Handler = ask => deletion(ask, new Draft())

export const deleteGateway: Handler = async ask => {
  const draft = Draft.of(ask.form)
  if (!isTyped(draft, ask.params.gateway!)) return deletion(ask, notTyped(draft))
  const deleted = await ask.api.delete(gatewayOf(ask))
  return deleted.ok ? redirectTo(done(paths.gateways(ask.account.id), 'gateway-deleted')) : deleted
}

async function deletion(ask: Ask, draft: Draft) {
  const [found, logs] = await Promise.all([
    findGateway(ask),
    ask.api.get<readonly unknown[]>(gatewayOf(ask, 'logs'), { per_page: 1 }),
  ])
  if (!found.ok) return found
  if (!logs.ok) return logs
  const { id } = found.result
  const { total_count: total } = logs.info!
  return {
    title: 'Delete this gateway?',
    crumbs: crumbsOf(ask, true),
    ...(draft.status !== undefined && { status: draft.status }),
    content: confirmation({
      frame: ask.frameFor(ask.path),
      draft,
      what: html`<p>Calls to <b>${id}</b> are refused at once. ${total === 0 ? 'It has no log entries.' : html`<b>${grouped(total)}</b> log ${total === 1 ? 'entry goes' : 'entries go'} with it.`} Tokens stay: they are of the account. This cannot be undone.</p>`,
      send: 'Delete the gateway',
      cancel: pageOf(ask),
      typed: { label: 'Type the id to confirm', word: id },
    }),
  }
}
