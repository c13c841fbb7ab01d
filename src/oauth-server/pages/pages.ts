// The pages of the authorization server: errors that must not reach the app, and signing out.

import { type Html, html } from '../../base/text/html.ts'
import { negotiate } from '../../errors/audience/negotiate.ts'
import { shownNameOf } from '../../oauth/clients/proven-host.ts'
import { appSchemeOf, type PageResponse, writePage } from '../../pages/parts/layout.ts'
import { messagePage, oauthErrorPage } from '../../pages/views/message.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { type ErrorEntry, errorEntries } from './error-entries.ts'
import { paths } from '../http/paths.ts'

interface RequestError {
  readonly status: number
  readonly error: string
  readonly description: string
  readonly uri: string
  readonly ray: string
  readonly app: string | null
}

export function errorPage(error: RequestError): PageResponse {
  return writePage(oauthErrorPage(error))
}

export function logoutPage(form: URLSearchParams, client: OAuthClient | null): PageResponse {
  const title = 'Sign out?'
  return writePage({
    title,
    content: html`<h1>${title}</h1>
<p class="lead">${client === null ? 'A link' : html`<bdi>${shownNameOf(client)}</bdi>`} asks to sign you out of this server.</p>
<div class="card"><form method="post" action="${paths.endSession}">
${[...form].map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">
`,
)}<button class="full">Sign out</button></form></div>
<p class="aside">To stay signed in, close this page.</p>`,
    formScheme: appSchemeOf(form.get('post_logout_redirect_uri') ?? ''),
  })
}

/** Leads on by itself if it may: browsers apply the form policy to redirects, too. */
export function signedOutPage(location: string | null, leads = true): PageResponse {
  const title = 'You are signed out'
  const onward = leads
    ? 'You are on your way back to the app.'
    : `Continue to ${hostIn(location)}, or close this page.`
  const text = location === null ? 'You can close this page.' : onward
  const page = messagePage({
    status: 200,
    title,
    text,
    ...(location !== null && { link: { href: location, text: 'Continue' } }),
  })
  return writePage({ ...page, ...(location !== null && leads && { leadsTo: location }) })
}

function hostIn(location: string | null): string {
  return URL.parse(location ?? '')?.host || 'the app'
}

export function errorDocument(error: string | null, accept: string | null): PageResponse | null {
  const entry = error === null ? null : byError.get(error)
  if (entry === undefined) return null
  const format = negotiate(accept)
  if (format === 'json' || format === 'problem')
    return plain('application/json', `${JSON.stringify(entry ?? { errors: errorEntries })}\n`)
  if (format === 'markdown')
    return plain(
      'text/markdown; charset=utf-8',
      (entry === null ? errorEntries : [entry]).map(markdownOf).join('\n'),
    )
  if (format === 'plain')
    return plain(
      'text/plain; charset=utf-8',
      (entry === null ? errorEntries : [entry]).map(plainOf).join('\n'),
    )
  if (entry !== null) return writePage({ title: entry.title, content: documentOf(entry) })
  const title = 'Errors of OAuth'
  return writePage({
    title,
    content: html`<h1>${title}</h1>
<div class="card"><ul class="rows">
${errorEntries.map(
  ({
    error,
    title,
  }) => html`<li><div><a href="${paths.errors}/${error}"><code>${error}</code></a><p>${title}</p></div></li>
`,
)}</ul></div>`,
  })
}

const byError: ReadonlyMap<string, ErrorEntry> = new Map(errorEntries.map(entry => [entry.error, entry]))

function documentOf({ error, title, meaning, checks }: ErrorEntry): Html {
  return html`<h1>${title}</h1>
<p class="lead"><code>${error}</code></p>
<p class="lead">${coded(meaning)}</p>
<div class="card"><h2>What to check</h2><ul>
${checks.map(
  check => html`<li>${coded(check)}</li>
`,
)}</ul></div>`
}

function coded(text: string): readonly (string | Html)[] {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))
}

function markdownOf({ error, title, meaning, checks }: ErrorEntry): string {
  return `# ${error}: ${title}

${meaning}

## What to Check

${checks.map(check => `- ${check}\n`).join('')}`
}

function plainOf({ error, title, meaning, checks }: ErrorEntry): string {
  return `${error}: ${title}

${meaning}

What to check:
${checks.map(check => `- ${check}\n`).join('')}`
}

function plain(type: string, body: string): PageResponse {
  return { status: 200, headers: [['content-type', type]], body }
}
