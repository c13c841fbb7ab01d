// The pages that the authorization server itself shows: an error that must not be sent to the app, and what the errors mean.

import { type Html, html } from '../base/text/html.ts'
import { negotiate } from '../errors/negotiate.ts'
import { Frame } from '../errors/render/page.ts'
import type { OAuthClient } from '../store/oauth-client.ts'
import { type ErrorEntry, errorEntries } from './errors.ts'
import { paths } from './paths.ts'

const frame = new Frame(
  `
main{max-width:40rem;margin-inline:auto;padding:clamp(1.5rem,6vh,4rem) clamp(1rem,4vw,2rem) 3rem}
.lead{margin-top:1rem;font-size:1.0625rem}
.card{margin-top:1.5rem;padding:1rem 1.5rem;background:var(--card);border:1px solid var(--line);border-radius:14px}
.card p+p{margin-top:.5rem}
ul{margin:.25rem 0;padding-left:1.1rem}
li+li{margin-top:.5rem}
button{margin-top:1.5rem;padding:.6rem 1.4rem;border:0;border-radius:10px;background:var(--act);color:var(--on-act);font:inherit;font-weight:600}
`,
  null,
)

export interface Shown {
  readonly contentType: string
  /** The Content-Security-Policy. */
  readonly policy: string
  readonly body: string
}

/** An authorization request that ends here. */
export interface AuthorizationError {
  readonly error: string
  readonly description: string
  readonly uri: string
  readonly ray: string
}

/** Explains to a person why an app could not be connected. */
export function errorPage({ error, description, uri, ray }: AuthorizationError): Shown {
  const title = byError.get(error)?.title ?? 'The app cannot be connected'
  return page(
    title,
    html`<h1>${title}</h1>
<p class="lead">The link that led here is not one that the app may use, so it leads no further.</p>
<div class="card"><p>${description}</p>
<p><code>${error}</code> · <a href="${uri}">What this means</a></p></div>
<footer>Ray <code>${ray}</code></footer>`,
  )
}

/** Asks whether an app may sign the person out; the form sends the request once more. */
export function logoutPage(form: URLSearchParams, client: OAuthClient | null): Shown {
  const title = 'Sign out?'
  return page(
    title,
    html`<h1>${title}</h1>
<p class="lead">${client === null ? 'A link' : client.name} asks to sign you out of this server.</p>
<form method="post" action="${paths.endSession}">
${[...form].map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">
`,
)}<button>Sign out</button></form>`,
    "form-action 'self'",
  )
}

export const signedOutPage: Shown = page(
  'You are signed out',
  html`<h1>You are signed out</h1>
<p class="lead">You can close this page.</p>`,
)

/** Explains an error, or lists them all where none is named; null for an unknown one. */
export function errorDocument(error: string | null, accept: string | null): Shown | null {
  const entry = error === null ? null : byError.get(error)
  if (entry === undefined) return null
  const format = negotiate(accept)
  if (format === 'json' || format === 'problem') {
    const body = JSON.stringify(entry ?? { errors: errorEntries })
    return { contentType: 'application/json', policy, body: `${body}\n` }
  }
  if (format === 'markdown')
    return {
      contentType: 'text/markdown; charset=utf-8',
      policy,
      body: (entry === null ? errorEntries : [entry]).map(markdownOf).join('\n'),
    }
  if (entry !== null) return page(entry.title, documentOf(entry))
  return page(
    'Errors of OAuth',
    html`<h1>Errors of OAuth</h1>
<div class="card"><ul>
${errorEntries.map(
  ({ error, title }) => html`<li><a href="${error}"><code>${error}</code></a><p>${title}</p></li>
`,
)}</ul></div>`,
  )
}

const policy = "default-src 'none'; frame-ancestors 'none'"

const byError: ReadonlyMap<string, ErrorEntry> = new Map(errorEntries.map(entry => [entry.error, entry]))

function documentOf({ error, title, meaning, checks }: ErrorEntry): Html {
  return html`<p><code>${error}</code></p>
<h1>${title}</h1>
<p class="lead">${coded(meaning)}</p>
<div class="card"><h2>What to check</h2><ul>
${checks.map(
  check => html`<li>${coded(check)}</li>
`,
)}</ul></div>`
}

/** Sets what stands between backticks as code. */
function coded(text: string): readonly (string | Html)[] {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))
}

function markdownOf({ error, title, meaning, checks }: ErrorEntry): string {
  return `# ${error}: ${title}

${meaning}

## What to Check

${checks.map(check => `- ${check}\n`).join('')}`
}

function page(title: string, content: Html, forms = "form-action 'none'"): Shown {
  return {
    contentType: 'text/html; charset=utf-8',
    policy: frame.policy
      .replace("frame-ancestors 'self'", "frame-ancestors 'none'")
      .replace("form-action 'none'", forms),
    body: frame.page(
      title,
      html`<main>
${content}
</main>`,
    ),
  }
}
