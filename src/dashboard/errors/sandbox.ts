// Pages of others, shown inside of ours: each in a frame of its own, from a path of its own, without an origin, scripts, forms, or anything from elsewhere.

import { type Html, html } from '../../base/text/html.ts'
import { type PageResponse, strictHeaders } from '../../pages/layout.ts'
import type { Preview } from './asked.ts'

const policy = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

const headers: PageResponse['headers'] = [
  ['content-type', 'text/html; charset=utf-8'],
  ['content-security-policy', policy],
  ...strictHeaders.filter(([name]) => name !== 'x-frame-options'),
  ['x-frame-options', 'SAMEORIGIN'],
]

/** Writes what a client would get, for a frame: HTML as the page that it is, anything else as text. */
export function framed(preview: Preview): PageResponse {
  const { source, body } = preview
  if (!isPage(preview)) return { status: 200, headers, body: html`<pre>${body}</pre>`.markup }
  // The script of our own page would only be reported as blocked; what the page says is whole without it.
  const shown = source === 'default' ? body.replace(/<script>[\s\S]*?<\/script>/, '') : body
  return { status: 200, headers, body: shown }
}

/** Writes a sentence in place of a page. */
export function framedText(status: number, sentences: readonly string[]): PageResponse {
  return { status, headers, body: html`${sentences.map(text => html`<p>${text}</p>`)}`.markup }
}

/** Whether a browser shows the body as a page. */
export function isPage({ headers }: Preview): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/html'),
  )
}

/** Makes a frame; forms can lead into it by its name. */
export function frame(title: string, source: string | null, name?: string): Html {
  return html`<iframe class="preview" title="${title}" sandbox${[
    source !== null && html` src="${source}"`,
    name !== undefined && html` name="${name}"`,
  ]}></iframe>`
}
