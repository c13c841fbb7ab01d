// The credentials of a client, shown once when it is created, or gets a secret: its id, its secret, and code
// that uses both.

import { type Html, html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import type { PageRequest, View } from '../page/page-request.ts'
import { codeBlock, copyable, shownOnce } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf } from './page-data.ts'
import { type Client, isConfidential } from './client.ts'
import { snippetsFor } from './snippets.ts'

export function createdView(request: PageRequest, client: Client): View {
  return {
    title: 'Client created',
    crumbs: crumbsOf(request),
    content: html`<p class="lead">${isolated(client.client_name)} can ask members of this account now. To let everybody use it, publish it.</p>
<div class="card">${copyable('Client ID', client.client_id)}</div>${secretOf(client)}${codeFor(request, client)}
<p class="aside"><a class="button" href="${paths.client(request.account.id, client.client_id)}">${isConfidential(client) ? 'I have saved it' : 'Go to the client'}</a></p>`,
  }
}

/** Shows a new secret of a client. */
export function newSecretView(request: PageRequest, client: Client, secret: string, text: string): View {
  return {
    title: 'New secret',
    crumbs: crumbsOf(request, client),
    content: html`${shownOnce('Client secret', secret, 'Save the secret now.')}<p class="lead">${text}</p>
<p class="aside"><a class="button" href="${paths.client(request.account.id, client.client_id)}">I have saved it</a></p>`,
  }
}

function secretOf({ client_secret: secret }: Client): Html | null {
  return secret === undefined ? null : shownOnce('Client secret', secret, 'Save the secret now.')
}

/** Shows code that signs people in with a client. */
export function codeFor({ issuer }: PageRequest, client: Client): Html {
  return html`<section class="card" aria-labelledby="code"><h2 id="code">Use it</h2>
${copyable('Issuer', issuer)}${snippetsFor(issuer, client).map(
  ({ title, code }) => html`<details><summary>${title}</summary>${codeBlock('Code', code)}</details>`,
)}</section>`
}
