// The frame of our pages, and the header fields that keep them out of caches, frames and strange hands.

import { type Html, html } from '../../base/text/html.ts'
import { Frame, gate } from '../../errors/render/page.ts'
import { passkeyScript } from './passkey-script.ts'
import { style } from './style.ts'

export interface Page {
  readonly title: string
  readonly content: Html
  readonly isWide?: boolean
  readonly status?: number
  /** The scheme of an app that the form leads to: browsers hold redirects to the policy too. */
  readonly formScheme?: string | null
  readonly retryAfter?: number
  readonly leadsTo?: string
  readonly hasPictures?: boolean
  /** Whether a script of ours may ask an authenticator. */
  readonly hasPasskeys?: boolean
}

/** A complete response; names in lower case. */
export interface PageResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** What follows the body, written as it is read; when it fails, the response is cut off. */
  readonly stream?: AsyncIterable<string>
}

const scriptless = new Frame(style, null)
const withPasskeys = new Frame(style, passkeyScript)

// A referrer is kept within this origin: without one, browsers send `Origin: null` with forms.
export const strictHeaders = [
  ['cache-control', 'no-store'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'same-origin'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
] as const

export function writePage(page: Page): PageResponse {
  const { title, content, isWide, status = 200, formScheme = null, retryAfter, leadsTo, hasPictures } = page
  const frame = page.hasPasskeys === true ? withPasskeys : scriptless
  const policy = frame.policyFor({
    pictures: hasPictures ? 'data: https:' : 'data:',
    forms: formScheme === null ? "'self'" : `'self' ${formScheme}`,
    ancestors: "'none'",
  })
  const body = frame.page(
    `${title} · Gatehouse`,
    html`<main${isWide === true && html` class="wide"`}>
<p class="mark"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="${gate}"/></svg>Gatehouse</p>
${content}
</main>`,
  )
  const headers = [
    ['content-type', 'text/html; charset=utf-8'],
    ['content-security-policy', policy],
    ['permissions-policy', permissionsOf(page)],
    ...(retryAfter === undefined ? [] : [['retry-after', String(retryAfter)] as const]),
    ...(leadsTo === undefined ? [] : [['refresh', `0;url=${leadsTo}`] as const]),
    ...strictHeaders,
  ] as const
  return { status, headers, body }
}

/** No page of another site in a frame, and no page of ours without need, may ask for a passkey. */
function permissionsOf({ hasPasskeys = false }: Page): string {
  const allowed = hasPasskeys ? '(self)' : '()'
  return `publickey-credentials-get=${allowed}, publickey-credentials-create=${allowed}`
}

/** Sends a browser on with GET, after a form too. */
export function redirectTo(location: string): PageResponse {
  return { status: 303, headers: [['location', location], ...strictHeaders], body: '' }
}

export function withCookies(response: PageResponse, cookies: readonly string[]): PageResponse {
  const fields = cookies.map(cookie => ['set-cookie', cookie] as const)
  return { ...response, headers: [...response.headers, ...fields] }
}

/** Returns the scheme of a URI that opens an app, with its colon; null for a web URI. */
export function appSchemeOf(uri: string): string | null {
  const scheme = URL.parse(uri)?.protocol ?? ''
  return /^[a-z][a-z0-9+.-]*:$/.test(scheme) && !/^https?:$/.test(scheme) ? scheme : null
}
