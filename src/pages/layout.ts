// What every page of ours shares: the frame, the mark, and the header fields that keep it out of caches, frames and strange hands.

import { type Html, html } from '../base/text/html.ts'
import { Frame, gate } from '../errors/render/page.ts'
import { style } from './style.ts'

/** A page before it is written. */
export interface Page {
  readonly title: string
  readonly content: Html
  /** Whether it has more than one column of a form. */
  readonly isWide?: boolean
  /** 200 by default. */
  readonly status?: number
  /** Where its forms may end besides here: browsers hold redirects after a form to this too. Origins, or schemes with a colon. */
  readonly formTargets?: readonly string[]
  /** Whether it shows pictures of other sites, over https. */
  readonly hasPictures?: boolean
}

/** A response that is whole; names in lower case. */
interface PageResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

const frame = new Frame(style, null)

// A referrer within this origin stays: without one, browsers send `Origin: null` with forms.
const strictHeaders = [
  ['cache-control', 'no-store'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'same-origin'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
] as const

/** Writes a page. */
export function writePage({
  title,
  content,
  isWide,
  status = 200,
  formTargets = [],
  hasPictures,
}: Page): PageResponse {
  const policy = frame.policyFor({
    pictures: hasPictures ? 'data: https:' : 'data:',
    forms: ["'self'", ...formTargets].join(' '),
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
    ...strictHeaders,
  ] as const
  return { status, headers, body }
}

/** Sends a browser on with GET, after a form too. */
export function redirectTo(location: string): PageResponse {
  return { status: 303, headers: [['location', location], ...strictHeaders], body: '' }
}

/** Returns the response with these cookies set besides. */
export function withCookies(response: PageResponse, cookies: readonly string[]): PageResponse {
  const fields = cookies.map(cookie => ['set-cookie', cookie] as const)
  return { ...response, headers: [...response.headers, ...fields] }
}

/** Returns what a policy calls the target of a redirect: its origin, or its scheme where that has none; null for none that a policy can name. */
export function formTargetOf(uri: string): string | null {
  const url = URL.parse(uri)
  if (url === null || !/^[a-z][a-z0-9+.-]*:$/.test(url.protocol)) return null
  const target = url.origin === 'null' ? url.protocol : url.origin
  return /^[\w.:/[\]+-]+$/.test(target) ? target : null
}
