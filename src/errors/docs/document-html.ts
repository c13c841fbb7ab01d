// The documentation of the errors as pages for people.

import { type Html, type HtmlValue, html } from '../../base/text/html.ts'
import type { ErrorCategory } from '../catalogue/catalogue.ts'
import { type Entry, factsOf } from './entry.ts'
import { Frame } from '../render/page.ts'

const style = `
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
label{display:block;margin-top:1.5rem;font-size:.9375rem;color:var(--soft)}
input{display:block;width:100%;max-width:24rem;margin-top:.3rem;padding:.5rem .75rem;border:1px solid var(--line);border-radius:8px;background:var(--card);color:var(--ink);font:inherit}
h2{margin-top:2.25rem;font-size:1.0625rem;color:var(--ink)}
.mark{display:inline-block;padding:0 .5rem;border:1px solid var(--line);border-radius:99px;font-size:.8125rem;color:var(--soft);white-space:nowrap}
[hidden]{display:none!important}
table{width:100%;margin-top:.5rem;border-collapse:collapse;font-size:.9375rem;font-variant-numeric:tabular-nums}
th{text-align:left;font-size:.875rem;color:var(--soft)}
th,td{padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th,td:not(:nth-child(2)){white-space:nowrap}
th:first-child,td:first-child{width:4.5rem}
th:nth-child(n+3),td:nth-child(n+3){width:5rem}
th:last-child,td:last-child{padding-right:0}
td code{display:block;font-size:.8125rem;color:var(--soft)}
`

/** Shows the rows that contain every word of the search, and the categories that have such rows. */
const script = `
(() => {
  const search = document.getElementById('search')
  const output = document.getElementById('found')
  const rows = [...document.querySelectorAll('tbody tr')]
  search.parentNode.hidden = false
  const look = () => {
    const words = search.value.toLowerCase().split(/\\s+/)
    for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word))
    for (const section of document.querySelectorAll('section'))
      section.hidden = !section.querySelector('tbody tr:not([hidden])')
    const left = rows.filter(row => !row.hidden).length
    output.textContent = search.value.trim() === '' ? '' : left === 0 ? 'No error has all these words.' : left + ' of ' + rows.length
  }
  search.addEventListener('input', look)
  look()
})()
`

const errorFrame = new Frame(style, null)
const indexFrame = new Frame(style, script)

/** The Content-Security-Policies of these pages. */
export const errorPolicy = errorFrame.policy
export const indexPolicy = indexFrame.policy

/** Writes the page of an error; with `listIsNear`, it links to the list of all errors one step up. */
export function documentErrorPage(entry: Entry, listIsNear: boolean): string {
  return errorFrame.page(
    `Error ${entry.code}: ${entry.title}`,
    html`<main>
${
  listIsNear &&
  html`<nav><a href="..">All errors</a></nav>
`
}<h1>Error ${entry.code}: ${entry.title}</h1>
<dl>
${factsOf(entry).map(
  ([label, fact]) => html`<div><dt>${label}</dt><dd>${fact}</dd></div>
`,
)}</dl>
<section><h2>${entry.raised ? 'Cause' : 'Possible cause'}</h2><p>${entry.cause}</p></section>
<section><h2>What to check</h2><p>${entry.remedy}</p></section>
<section><h2>What the client sees</h2>
<blockquote><p>${entry.detail}</p><p>${entry.what_you_should_do.replaceAll('**', '')}</p></blockquote></section>
</main>`,
  )
}

/** The heading of each category, in the order in which operators meet them. */
const categories: Readonly<Record<ErrorCategory, string>> = {
  origin: 'Origins',
  ssl: 'TLS of origins',
  dns: 'Names',
  config: 'Settings of zones and origins',
  access_denied: 'Access rules',
  rate_limit: 'Limits',
  legal: 'Legal restrictions',
  tls: 'TLS of clients',
  rewrite: 'Rewrites',
  unsupported: 'Unsupported protocols',
  cloudflare: 'The gateway itself',
  worker: 'Worker scripts',
  snippet: 'Snippets',
}

export function documentIndexPage(entries: readonly Entry[]): string {
  return indexFrame.page(
    'Errors',
    html`<main>
<h1>Errors</h1>
<label hidden>Search by code, name or words<input id="search" type="search" autocomplete="off"></label>
<p id="found" role="status"></p>
${Object.entries(categories).map(([category, heading]) =>
  section(
    heading,
    entries.filter(entry => entry.category === category),
  ),
)}</main>`,
  )
}

function section(heading: string, entries: readonly Entry[]): HtmlValue {
  if (entries.length === 0) return null
  return html`<section>
<h2>${heading}</h2>
<table>
<thead><tr><th scope="col">Code</th><th scope="col">Error</th><th scope="col">HTTP</th><th scope="col">Retry</th></tr></thead>
<tbody>
${entries.map(row)}</tbody>
</table>
</section>
`
}

function row({ code, title, name, status, retry_after, raised }: Entry): Html {
  const mark = !raised && html` <span class="mark">preview only</span>`
  return html`<tr><td><a href="errors/${code}">${code}</a></td><td>${title}${mark} <code>${name}</code></td><td>${status}</td><td>${retry_after !== undefined && `${retry_after} s`}</td></tr>
`
}
