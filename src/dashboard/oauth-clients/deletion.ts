// The end of an OAuth client.

import { html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { Ask, Handler } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { confirmation, isTyped, notTyped } from '../parts/forms.ts'
import { paths } from '../page/paths.ts'
import { clientOf, crumbsOf, findClient, pageOf } from './page-data.ts'

export const confirmDeletion: Handler = ask => deletion(ask, new Draft())

export const deleteClient: Handler = async ask => {
  const found = await findClient(ask)
  if (!found.ok) return found
  const draft = Draft.of(ask.form)
  if (!isTyped(draft, found.result.client_name)) return deletion(ask, notTyped(draft))
  const deleted = await ask.api.delete(clientOf(ask))
  return deleted.ok ? redirectTo(done(paths.clients(ask.account.id), 'client-deleted')) : deleted
}

async function deletion(ask: Ask, draft: Draft) {
  const [found, grants] = await Promise.all([
    findClient(ask),
    ask.api.get<readonly unknown[]>(clientOf(ask, 'grants'), { per_page: 5 }),
  ])
  if (!found.ok) return found
  if (!grants.ok) return grants
  const { client_name: name } = found.result
  const { total_count: total } = grants.info!
  return {
    title: 'Delete this client?',
    crumbs: crumbsOf(ask, found.result),
    ...(draft.status !== undefined && { status: draft.status }),
    content: confirmation({
      frame: ask.frameFor(ask.path),
      draft,
      what: html`<p>${isolated(name)} is deleted with its secrets. ${endOf(total)} This cannot be undone: a new client has another id.</p>`,
      send: 'Delete the client',
      cancel: pageOf(ask),
      typed: { label: 'Type the name to confirm', word: name },
    }),
  }
}

function endOf(grants: number): string {
  if (grants === 0) return 'Nobody has allowed it anything, so nobody loses access.'
  return `${grants === 1 ? 'One consent ends' : `${grants} consents end`} at once, with all their tokens.`
}
