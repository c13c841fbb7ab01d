// Deletion of an OAuth client.

import { html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { confirmationPage, isTyped, notTyped } from '../parts/forms.ts'
import { paths } from '../page/paths.ts'
import { clientOf, crumbsOf, findClient, pageOf } from './page-data.ts'

export const confirmDeletion: Handler = request => deletion(request, new Draft())

export const deleteClient: Handler = async request => {
  const response = await findClient(request)
  const draft = Draft.of(request.form)
  if (!isTyped(draft, response.result.client_name)) return deletion(request, notTyped(draft))
  const deleted = await request.api.delete(clientOf(request))
  return deleted.ok ? redirectWith(paths.clients(request.account.id), 'client-deleted') : deleted
}

async function deletion(request: PageRequest, draft: Draft) {
  const [response, grants] = await Promise.all([
    findClient(request),
    request.api.get<readonly unknown[]>(clientOf(request, 'grants'), { per_page: 5 }),
  ])
  const { client_name: name } = response.result
  const { total_count: total } = grants.info!
  return confirmationPage({
    title: 'Delete this client?',
    crumbs: crumbsOf(request, response.result),
    frame: request.frameFor(request.path),
    draft,
    what: html`<p>${isolated(name)} is deleted with its secrets. ${endOf(total)} This cannot be undone: a new client has another id.</p>`,
    send: 'Delete the client',
    cancel: pageOf(request),
    typed: { label: 'Type the name to confirm', word: name },
  })
}

function endOf(grants: number): string {
  if (grants === 0) return 'Nobody has allowed it anything, so nobody loses access.'
  return `${grants === 1 ? 'One consent ends' : `${grants} consents end`} at once, with all their tokens.`
}
