// Pages of text alone: what went wrong, and what to do.

import { type HtmlValue, html } from '../../base/text/html.ts'
import { facts } from '../parts/components.ts'
import type { Page } from '../parts/layout.ts'

interface MessageView {
  readonly status: number
  readonly title: string
  readonly text: HtmlValue
  readonly details?: readonly (readonly [name: string, value: string])[]
  readonly link?: { readonly href: string; readonly text: string }
}

export function messagePage({ status, title, text, details = [], link }: MessageView): Page {
  return {
    status,
    title,
    content: html`<h1>${title}</h1>
<p class="lead">${text}</p>
${
  details.length > 0 &&
  html`<div class="card">${facts(details.map(([name, value]) => [name, html`<code>${value}</code>`]))}</div>
`
}${link !== undefined && html`<p class="aside"><a class="button plain" href="${link.href}">${link.text}</a></p>`}`,
  }
}

/** Explains why the store is not trusted, and the operator's remedy, as in `StoreDegraded`. */
export function degradedPage({
  message,
  remedy,
}: {
  readonly message: string
  readonly remedy: string
}): Page {
  return {
    ...messagePage({
      status: 503,
      title: 'The store is not trusted',
      text: 'Nobody can sign in or change anything until an operator has mended this. Gatehouse goes on serving requests with what it knows.',
      details: [
        ['What happened', message],
        ['What to do', remedy],
      ],
    }),
    retryAfter: 5,
  }
}

interface OAuthErrorView {
  readonly status: number
  /** A code of RFC 6749. */
  readonly error: string
  readonly description: string | null
  readonly app: string | null
  readonly ray: string
  readonly uri?: string
}

/** Explains why a request of an app fails. The app is not notified, since its identity is unproven. */
export function oauthErrorPage({ status, error, description, app, ray, uri }: OAuthErrorView): Page {
  const name = app === null ? 'An app' : `The app ${app}`
  return messagePage({
    status,
    title: 'This request cannot go on',
    text: html`<bdi>${name}</bdi> sent you here with a request that is not valid. Go back to the app and try again; if it happens again, give its makers these details.`,
    details: [
      ['Error', error],
      ...(description === null ? [] : [['Reason', description] as const]),
      ['Ray ID', ray],
    ],
    ...(uri !== undefined && { link: { href: uri, text: 'What this error means' } }),
  })
}
