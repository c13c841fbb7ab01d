// Foreign pages inside of ours: each in a frame of its own, from a path of its own, without an origin,
// scripts, forms, or anything from elsewhere.

import { type Html, html } from '../../base/text/html.ts'
import { type PageResponse, strictHeaders } from '../../pages/parts/layout.ts'
import type { PageRequest, View } from '../page/page-request.ts'
import type { Preview, previewOf } from './page-data.ts'

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

/**
 * Writes a preview of the response to a client, for a frame: HTML as a page, anything else as text. Only
 * within a frame: by itself, its links would lead away.
 */
export function framed(
  preview: Awaited<ReturnType<typeof previewOf>>,
  { isAlone }: PageRequest,
): PageResponse {
  if (!preview.ok) return framedText(preview.status, Object.values(preview.faults))
  const { source, body } = preview.result
  if (isAlone) return framedText(200, ['The preview is in the page with the form.'])
  if (!isPage(preview.result)) return { status: 200, headers, body: html`<pre>${body}</pre>`.markup }
  // The script of our own page would only be reported as blocked; the page is complete without it.
  const visible = source === 'default' ? body.replace(/<script>[\s\S]*?<\/script>/, '') : body
  return { status: 200, headers, body: withoutLinks(visible) }
}

/**
 * Makes links open another window by default, which the sandbox forbids: for browsers that do not say where
 * they show a page.
 */
function withoutLinks(page: string): string {
  const at = doctypeEnd(page)
  return `${page.slice(0, at)}<base target="_blank">${page.slice(at)}`
}

/** Returns the end of the doctype, with comments before it; 0 without one. */
function doctypeEnd(page: string): number {
  let at = 0
  for (;;) {
    at += /^\s*/.exec(page.slice(at))![0].length
    if (!page.startsWith('<!--', at)) break
    const end = page.indexOf('-->', at)
    if (end < 0) return 0
    at = end + 3
  }
  const doctype = /^<!doctype[^>]{0,200}>/i.exec(page.slice(at, at + 220))
  return doctype === null ? 0 : at + doctype[0].length
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

/** Makes the page for a preview that is opened by itself. */
export function alone(request: PageRequest, title: string, crumbs: View['crumbs'] = []): View {
  return {
    title,
    crumbs,
    isWide: true,
    hasFrames: true,
    content: frame(title, request.framePathOf(request.path)),
  }
}

/** Makes a frame; forms can lead into it by its name. */
export function frame(title: string, source: string | null, name?: string): Html {
  return html`<iframe class="preview" title="${title}" sandbox${[
    source !== null && html` src="${source}"`,
    name !== undefined && html` name="${name}"`,
  ]}></iframe>`
}
