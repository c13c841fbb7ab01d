// The responses that a gateway has stored: how many they are and what they saved, and their end.

import { type Html, html } from '../../base/text/html.ts'
import { facts } from '../../pages/parts/components.ts'
import { redirectWith } from '../page/flash-messages.ts'
import type { Handler, PageRequest } from '../page/page-request.ts'
import { paths, withQuery } from '../page/paths.ts'
import { confirmationPage } from '../parts/forms.ts'
import { grouped, size } from '../parts/numbers.ts'
import { time } from '../parts/values.ts'
import { crumbsOf, findGateway, gatewayOf, pageOf } from './page-data.ts'
import type { Gateway } from './gateway.ts'

/** The stored responses in the form of the API. */
interface StoredResponses {
  readonly entries: number
  readonly bytes: number
  readonly emptied_at: string | null
  readonly count: number
  readonly count_cached: number
}

export function findStored(request: PageRequest) {
  return request.api.get<StoredResponses>(gatewayOf(request, 'stored_responses'))
}

/** Null for a gateway that stores none and has none. */
export function storedCard(
  { account }: PageRequest,
  gateway: Gateway,
  stored: StoredResponses,
  mayEdit: boolean,
): Html | null {
  const { entries, count, count_cached: reused } = stored
  const isOff = gateway.cache_ttl === 0 && !gateway.idempotency_keys
  if (isOff && entries === 0 && reused === 0) return null
  const calls = withQuery(paths.logs(account.id, gateway.id), { cached: 'true', range: '24h' })
  return html`<section class="card" aria-labelledby="stored"><h2 id="stored">Stored responses</h2>${
    entries === 0
      ? html`<p class="hint">None is stored at the moment.</p>`
      : facts([['Stored', `${grouped(entries)}, ${size(stored.bytes)}`]])
  }${facts([
    [
      'Calls of 24 hours',
      count === 0
        ? 'None'
        : html`${grouped(reused)} of ${grouped(count)} (${((100 * reused) / count).toFixed(1)} %) had a stored response. <a href="${calls}">These calls</a>`,
    ],
    ['Deleted', stored.emptied_at === null ? null : time(stored.emptied_at)],
  ])}${mayEdit && entries > 0 && html`<p><a class="button plain small" href="${paths.storedResponses(account.id, gateway.id)}">Delete them…</a></p>`}</section>`
}

export const confirmEmptying: Handler = async request => {
  const [{ result: gateway }, { result: stored }] = await Promise.all([
    findGateway(request),
    findStored(request),
  ])
  const { entries } = stored
  return confirmationPage({
    title: 'Delete the stored responses?',
    crumbs: crumbsOf(request, true),
    frame: request.frameFor(request.path),
    what: html`<p><b>${grouped(entries)}</b> stored ${entries === 1 ? 'response' : 'responses'} of <b>${gateway.id}</b> (${size(stored.bytes)}) will not be given to calls any more. Equal calls go to their providers again, at their cost. Calls with an Idempotency-Key that were made before are refused if they are repeated. This cannot be undone.</p>`,
    send: 'Delete the responses',
    cancel: pageOf(request),
  })
}

export const emptyStored: Handler = async request => {
  const deleted = await request.api.delete(gatewayOf(request, 'stored_responses'))
  return deleted.ok ? redirectWith(pageOf(request), 'responses-deleted') : deleted
}
