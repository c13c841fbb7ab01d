// Pages of text alone: what went wrong, and what to do.

import { type HtmlValue, html } from '../../base/text/html.ts'
import { facts } from '../parts/components.ts'
import { StoreDegraded, type StoreFault, type StoreUnreachable } from '../../store/contract/store.ts'
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

/** Explains what the store did not do, and for one that is not trusted, the operator's remedy. */
export function storePage(failure: StoreUnreachable): Page {
  const isDegraded = failure instanceof StoreDegraded
  return {
    ...messagePage({
      status: 503,
      ...storeTroubles[failure.fault],
      ...(isDegraded && {
        details: [
          ['What happened', failure.message],
          ['What to do', failure.remedy],
        ],
      }),
    }),
    retryAfter: 5,
  }
}

const storeTroubles: Readonly<Record<StoreFault, Pick<MessageView, 'title' | 'text'>>> = {
  unreachable: {
    title: 'Try again in a moment',
    text: 'Gatehouse cannot reach its store, so nobody can sign in or out or change anything just now. If you sent a change, check whether it was made before you repeat it. If a link is over when you try again, ask for another.',
  },
  read_only: {
    title: 'Nothing can be changed just now',
    text: 'The store of Gatehouse takes no changes, for example because its disk is full, so nobody can sign in or out or change anything until an operator has mended this. Gatehouse goes on serving requests.',
  },
  unconfirmed: {
    title: 'Check whether this was done',
    text: 'The store of Gatehouse did not confirm this, so it may or may not have been done. Check before you repeat it.',
  },
  busy: {
    title: 'Try again in a moment',
    text: 'The store of Gatehouse is busy, so this was not done.',
  },
  degraded: {
    title: 'The store is not trusted',
    text: 'Nobody can sign in or change anything until an operator has mended this. Gatehouse goes on serving requests with what it knows.',
  },
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
