// The frame of the pages of the documentation.

import { type Html, html } from '../../base/text/html.ts'
import { Frame, gate } from '../../errors/render/page.ts'
import { steps } from '../../errors/render/design-tokens.ts'
import type { ApiResponse } from '../http/envelope.ts'

export interface DocsPage {
  readonly title: string
  readonly content: Html
  /** The pages above this one, with links relative to it. */
  readonly crumbs: readonly (readonly [href: string, title: string])[]
}

const frame = new Frame(
  `${steps}
main,.top{max-width:54rem;margin-inline:auto;padding-inline:clamp(1rem,4vw,2rem)}
main{padding-bottom:var(--s7)}
.top{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s4);align-items:center;padding-block:var(--s5) var(--s4);font-size:.9375rem}
.top a{display:inline-block;padding-block:.2rem}
.mark{color:var(--soft);font-weight:600;text-decoration:none}
.mark svg{width:1.5rem;height:1.5rem;margin-right:var(--s2);vertical-align:-.35rem;fill:none;stroke:var(--act);stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
.top ol{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s2);margin:0;padding:0;list-style:none}
.top li::before{content:"/";margin-right:var(--s2);color:var(--soft)}
h1{margin:0;font-size:clamp(1.625rem,1.3rem + 1.6vw,2.125rem)}
h2{margin:var(--s6) 0 var(--s2);font-size:var(--large);color:var(--ink)}
h3{margin:var(--s5) 0 var(--s2);font-size:var(--middle)}
main p{margin-top:var(--s3);max-width:44rem}
main p.soft,.soft{color:var(--soft)}
.soft{font-size:.9375rem}
.call{padding:var(--s3) var(--s4);border:1px solid var(--line);border-radius:var(--round);background:var(--card)}
.method{font:600 .9375em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--act)}
pre{margin:var(--s3) 0 0;padding:var(--s4);border:1px solid var(--line);border-radius:var(--round);background:var(--card);font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap}
dl{margin:var(--s3) 0 0;padding:var(--s1) var(--s4);border:1px solid var(--line);border-radius:var(--rounder);background:var(--card);font-size:.9375rem}
dl div{display:flex;flex-wrap:wrap;gap:0 var(--s4);padding:var(--s3) 0}
dl div+div{border-top:1px solid var(--line)}
dt{flex:0 1 15rem;min-width:min(100%,9rem)}
dd{flex:1 1 16rem;min-width:0;margin:0}
dd p{margin:0!important}
.pill{display:inline-block;padding:0 .5rem;border:1px solid var(--line);border-radius:99px;font-size:.8125rem;color:var(--soft);white-space:nowrap}
summary{width:max-content;max-width:100%;padding-block:.1rem;color:var(--act);cursor:pointer}
.values code+code{margin-left:var(--s2)}
ul.rows{margin:var(--s3) 0 0;padding:var(--s1) var(--s4);list-style:none;background:var(--card);border:1px solid var(--line);border-radius:var(--rounder)}
ul.rows li{display:flex;flex-wrap:wrap;gap:0 var(--s4);padding:var(--s2) 0}
ul.rows li+li{border-top:1px solid var(--line)}
ul.rows li>:first-child{flex:1 1 16rem}
ul.rows li>:last-child{flex:1 1 20rem;min-width:0;font-size:.875rem;color:var(--soft)}
main :is(ul,ol):not([class]){max-width:44rem;padding-left:1.25rem}
main li+li{margin-top:var(--s1)}
.wide{overflow-x:auto;margin-top:var(--s3)}
.wide table{border-collapse:collapse;font-size:.9375rem;overflow-wrap:normal}
.wide code{overflow-wrap:normal;word-break:normal}
.wide :is(th,td){padding:var(--s2) var(--s3);border:1px solid var(--line);text-align:left;vertical-align:top}
ul.links{columns:16rem;margin:var(--s3) 0 0;padding-left:1.25rem}
ul.links a{display:inline-block;padding-block:.15rem}
`,
  null,
)

export function docsPage({ title, content, crumbs }: DocsPage, home: string): ApiResponse {
  const body = frame.page(
    `${title} · Gatehouse`,
    html`<header class="top"><a class="mark" href="${home}"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="${gate}"/></svg>Gatehouse</a>
<nav aria-label="Where you are"><ol>${crumbs.map(([href, title]) => html`<li><a href="${href}">${title}</a></li>`)}</ol></nav></header>
<main>
<h1>${title}</h1>
${content}
</main>`,
  )
  return {
    status: 200,
    headers: {
      'cache-control': 'no-cache',
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': frame.policy,
    },
    body,
  }
}

/** Makes paragraphs of a text with blank lines between them, and code in backticks. */
export function paragraphs(text: string): Html {
  return html`${text
    .split('\n\n')
    .filter(one => one !== '')
    .map(
      one => html`<p>${withCode(one)}</p>
`,
    )}`
}

export function withCode(text: string): Html {
  const parts = text.split('`')
  return html`${parts.map((part, at) => (at % 2 === 1 && at < parts.length - 1 ? html`<code>${part}</code>` : part))}`
}
