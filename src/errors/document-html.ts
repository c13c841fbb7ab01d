// The documentation of the errors as pages for people; document.ts serves them.

import { html } from '../base/html.ts'
import { type Entry, factsOf } from './entry.ts'
import { Frame } from './page.ts'

const STYLE = `
main{max-width:48rem;margin-inline:auto;padding:clamp(1.5rem,6vh,4rem) clamp(1rem,4vw,2rem) 3rem}
nav{font-size:.9375rem;margin-bottom:1.5rem}
section{margin-top:1.75rem}
dl{margin:2rem 0;padding:.5rem 1.5rem;background:var(--card);border:1px solid var(--line);border-radius:14px;font-size:.9375rem}
dl div{display:flex;flex-wrap:wrap;gap:0 1rem;padding:.5rem 0}
dl div+div{border-top:1px solid var(--line)}
dt{flex:0 0 7rem;color:var(--soft)}
dd{flex:1 1 10rem;margin:0}
blockquote{margin:0;padding-left:1rem;border-left:3px solid var(--line);color:var(--soft)}
blockquote p+p{margin-top:.75rem}
table{width:100%;margin-top:2rem;border-collapse:collapse;font-size:.9375rem;font-variant-numeric:tabular-nums}
th{text-align:left;font-size:.875rem;color:var(--soft)}
th,td{padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th,td:not(:nth-child(2)){white-space:nowrap}
th:last-child,td:last-child{padding-right:0}
td code{display:block;font-size:.8125rem;color:var(--soft)}
`

const frame = new Frame(STYLE, null)

/** The Content-Security-Policy that these pages are served with. */
export const DOCUMENT_POLICY = frame.policy

export function documentErrorPage(entry: Entry): string {
  return frame.page(
    `Error ${entry.code}: ${entry.title}`,
    html`<main>
<nav><a href="../errors">All errors</a></nav>
<h1>Error ${entry.code}: ${entry.title}</h1>
<dl>
${factsOf(entry).map(
  ([label, fact]) => html`<div><dt>${label}</dt><dd>${fact}</dd></div>
`,
)}</dl>
<section><h2>What raises it</h2><p>${entry.cause}</p></section>
<section><h2>What to check</h2><p>${entry.remedy}</p></section>
<section><h2>What the client is told</h2>
<blockquote><p>${entry.detail}</p><p>${entry.what_you_should_do.replaceAll('**', '')}</p></blockquote></section>
</main>`,
  )
}

export function documentIndexPage(entries: readonly Entry[]): string {
  return frame.page(
    'Errors',
    html`<main>
<h1>Errors</h1>
<table>
<thead><tr><th scope="col">Code</th><th scope="col">Error</th><th scope="col">HTTP</th><th scope="col">Retry</th></tr></thead>
<tbody>
${entries.map(
  entry => html`<tr><td><a href="errors/${entry.code}">${entry.code}</a></td><td>${entry.title} <code>${entry.name}</code></td><td>${entry.status}</td><td>${entry.retry_after !== undefined && `${entry.retry_after} s`}</td></tr>
`,
)}</tbody>
</table>
</main>`,
  )
}
