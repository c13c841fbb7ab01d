// The secrets of an OAuth client: one, or two during a rotation.

import { type Html, html } from '../../base/text/html.ts'
import { button, form } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, keyField } from '../parts/draft.ts'
import { confirmationPage } from '../parts/forms.ts'
import { badge } from '../parts/lists.ts'
import { time, usedLately } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { clientOf, crumbsOf, findClient, pageOf } from './page-data.ts'
import { type Client, isConfidential, type Secret } from './client.ts'
import { newSecretView } from './new-credentials.ts'

export function secretsCard(request: PageRequest, client: Client, mayWrite: boolean): Html | null {
  if (!isConfidential(client)) return null
  const { client_secrets: secrets } = client
  return html`<section class="card" aria-labelledby="secrets"><h2 id="secrets">Secrets</h2>
<ul class="rows">${secrets.map((secret, i) => row(secret, i > 0))}</ul>${mayWrite && actions(request, client)}</section>`
}

function row({ tail, created_at, last_used_at, status }: Secret, isOld: boolean): Html {
  return html`<li><div><h3>Ends with <code>${tail}</code> ${isOld && badge('old')}${status === 'key_lost' && badge('rejected: the server key is lost', 'bad')}</h3><p>Created ${time(created_at)}, last used ${time(last_used_at)}</p></div></li>`
}

function actions(request: PageRequest, client: Client): Html {
  const { id } = request.account
  const create = paths.newSecret(id, client.client_id)
  if (client.client_secrets.length < 2)
    return html`${form({ ...request.frameFor(create), hidden: { [keyField]: new Draft().key } }, button('Create a new secret', 'plain small'))}<p class="hint">To replace it without an interruption: both work until you delete the old one.</p>`
  return html`<div class="actions"><button class="plain small" disabled aria-describedby="two-secrets">Create a new secret</button><a class="button danger small" href="${paths.dropSecret(id, client.client_id)}">Delete the old secret…</a></div>
<p class="hint" id="two-secrets">There are two secrets, the most that there can be: delete the old one first.</p>`
}

/** Creates a second secret, and shows it once. */
export const createSecret: Handler = async request => {
  const response = await findClient(request)
  const { key } = Draft.of(request.form)
  const outcome = await request.api.post<{ readonly client_secret: string }>(
    clientOf(request, 'rotate_secret'),
    undefined,
    { idempotencyKey: key },
  )
  if (!outcome.ok) return outcome
  return newSecretView(
    request,
    response.result,
    outcome.result.client_secret,
    'Give it to the app. The old one works until you delete it.',
  )
}

export const confirmDrop: Handler = async request => {
  const response = await findClient(request)
  const [, old] = response.result.client_secrets
  if (old === undefined) return redirectTo(pageOf(request))
  return confirmationPage({
    title: 'Delete the old secret?',
    crumbs: crumbsOf(request, response.result),
    frame: request.frameFor(request.path),
    draft: new Draft(response.etag === null ? {} : { etag: response.etag }),
    what: html`${usedLately(old.last_used_at, 'See that the new one is in place everywhere first.')}<p>The secret that ends with <code>${old.tail}</code>, created ${time(old.created_at)}, is refused from then on. The new one stays.</p>`,
    send: 'Delete the old secret',
    cancel: pageOf(request),
  })
}

export const dropSecret: Handler = async request => {
  const { etag } = Draft.of(request.form)
  const dropped = await request.api.delete(clientOf(request, 'rotate_secret'), { ifMatch: etag })
  return dropped.ok ? redirectWith(pageOf(request), 'secret-dropped') : dropped
}
