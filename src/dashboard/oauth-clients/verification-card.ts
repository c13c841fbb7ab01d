// The progress of verifying that the owner of an OAuth client owns the host of its home page.

import { type Html, html } from '../../base/text/html.ts'
import { button, facts, form, isolated } from '../../pages/parts/components.ts'
import type { PageRequest } from '../page/page-request.ts'
import { badge } from '../parts/lists.ts'
import { copyable, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { type Client, statesInWords, type Verification } from './client.ts'

export function verificationCard(request: PageRequest, client: Client, mayWrite: boolean): Html | null {
  const { client_uri_verification: verification } = client
  if (verification === undefined) return null
  const { status } = verification
  return html`<section class="card" aria-labelledby="verification" id="verification-card"${isBeingVerified(client) && html` data-live="3"`}><h2 id="verification">Verification</h2>
<p>${badge(statesInWords[status], status === 'verified' ? 'good' : status === 'failed' ? 'bad' : '')} ${isolated(verification.host)}</p>
${status === 'verified' ? verified(verification) : record(verification)}${
  mayWrite &&
  status === 'failed' &&
  form(
    request.frameFor(paths.verifyClient(request.account.id, client.client_id)),
    button('Restart verification', 'plain small'),
  )
}</section>`
}

/** Whether DNS is still being checked. */
export function isBeingVerified({ client_uri_verification: verification }: Client): boolean {
  return verification?.status === 'pending' || verification?.status === 'in_progress'
}

function verified({ verified_at }: Verification): Html {
  return html`<p>DNS proved it ${time(verified_at)}. The record may be removed.</p>`
}

function record(verification: Verification): Html {
  const { host, text, last_answer: answer, next_check, deadline, status } = verification
  return html`<p>${status === 'failed' ? 'DNS did not have this record in time:' : 'Publish this record with the DNS provider of this name. Gatehouse finds it by itself: it looks every 15 seconds at first, and less often later.'}</p>
${copyable('Name', host)}${copyable('Type', 'TXT')}${copyable('Value', text)}${facts([
  ['Last answer', answer === undefined ? 'none yet' : answered(answer)],
  ['What to do', answer?.hint ?? null],
  ['Next check', next_check === undefined ? null : time(next_check)],
  [status === 'failed' ? 'Ended' : 'Ends', time(deadline)],
])}`
}

function answered({ at, outcome, records }: NonNullable<Verification['last_answer']>): Html {
  return html`${outcome.replaceAll('_', ' ')}, ${time(at)}${records.length > 0 && html`<ul class="plain-list">${records.map(one => html`<li><code class="long">${one}</code></li>`)}</ul>`}`
}
