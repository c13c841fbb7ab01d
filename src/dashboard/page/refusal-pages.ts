// Pages for refusals of the management API, and for missing pages.

import { html } from '../../base/text/html.ts'
import { paths as ownPaths } from '../../pages/parts/paths.ts'
import type { View } from './page-request.ts'
import type { Failure } from './api-client.ts'
import { paths } from './paths.ts'

/** Returns the page of a failure without a more specific one. */
export function refusalView({ status, faults }: Failure): View {
  if (status === 404) return notFound
  const said = Object.values(faults)
  const [title, text] = messages[status] ?? ['That did not work', 'Nothing was done.']
  return message(status, title, [text, ...said])
}

const messages: Readonly<Record<number, readonly [title: string, text: string]>> = {
  403: ['Not allowed', 'Your roles in this account do not include this.'],
  409: ['Something else is in the way', 'Nothing was done.'],
  412: [
    'Changed meanwhile',
    'Somebody else changed this after you loaded it. Load it again, and see what is there now.',
  ],
  429: ['Too many changes', 'Nothing was done. Wait a moment, then try again.'],
  503: ['Not possible just now', 'Gatehouse could not do this, or cannot tell whether it was done:'],
}

export const notFound: View = message(404, 'Page not found', [
  'There is no page at this address, or your roles in this account do not include it.',
])

/** For a person without memberships. */
export const noAccount: View = {
  title: 'You are in no account yet',
  content: html`<div class="card"><p>An administrator of an account can invite you: ask for an invitation link. Your profile shows what you are invited to. The operator of this gateway can create an account for you.</p>
<p><a href="${ownPaths.account}">Your profile</a></p></div>`,
}

export const shutAccount: View = {
  title: 'Turn on two-step sign-in first',
  status: 403,
  content: html`<div class="card"><p>This account requires two-step sign-in of its members. Turn it on in your profile, then come back.</p>
<p><a class="button" href="${ownPaths.account}">Your profile</a></p></div>`,
}

/** Names the methods of a page. */
export function notAllowed(allowed: string): View {
  return message(405, 'Method not allowed', [`This page takes ${allowed}.`])
}

function message(status: number, title: string, texts: readonly string[]): View {
  return {
    title,
    status,
    content: html`<div class="card">${texts.map(
      text => html`<p>${text}</p>
`,
    )}<p><a href="${paths.root}">To the dashboard</a></p></div>`,
  }
}
