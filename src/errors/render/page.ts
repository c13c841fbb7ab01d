// The frame that our own pages share: head, colours, type, and a policy that blocks everything else.

import { hash } from 'node:crypto'
import { type Html, html, raw } from '../../base/text/html.ts'
import { foundation } from './design-tokens.ts'

interface Liberties {
  readonly pictures?: string
  /** Allowed targets of forms, including their redirects. */
  readonly forms?: string
  /** Pages that may show this one in a frame. */
  readonly ancestors?: string
}

export class Frame {
  /** The Content-Security-Policy of these pages: their own style and script, by hash. */
  readonly policy: string
  readonly #code: string
  readonly #style: Html
  readonly #script: Html | null

  constructor(style: string, script: string | null) {
    const sheet = foundation + style
    this.#style = raw(sheet)
    this.#script = script === null ? null : html`<script>${raw(script)}</script>`
    this.#code = `style-src '${digest(sheet)}'; script-src ${script === null ? "'none'" : `'${digest(script)}'`}`
    this.policy = this.policyFor({})
  }

  /** Returns the policy with further permissions of a page, each as a source list of CSP. */
  policyFor({ pictures = 'data:', forms = "'none'", ancestors = "'self'" }: Liberties): string {
    return [
      "default-src 'none'",
      this.#code,
      `img-src ${pictures}`,
      "base-uri 'none'",
      `form-action ${forms}`,
      `frame-ancestors ${ancestors}`,
    ].join('; ')
  }

  page(title: string, content: Html): string {
    return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${this.#style}</style>
</head>
<body>
${content}
${this.#script}
</body>
</html>
`.markup
  }
}

function digest(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`
}

/** The gatehouse as one path on a 24 by 24 grid. */
export const gate = 'M4 20V7h3v2h3V7h4v2h3V7h3v13M9 20v-4a3 3 0 0 1 6 0v4M2 20h20'

export const icon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#4a7fd0" stroke-width="2"><path d="${gate}"/></svg>`,
)}`
