// The error record as a page for people: one file, no external resources, complete without script.

import { type Html, type HtmlValue, html, raw, spellOut } from '../../base/text/html.ts'
import type { Operator } from '../../config/model/custom-errors-config.ts'
import { errorRows, type Stage } from '../catalogue/catalogue.ts'
import { Frame, gate } from './page.ts'
import { type Problem, timestampOf } from '../catalogue/problem.ts'
import { script, style } from './page-assets.ts'

const frame = new Frame(style, script)

export const pagePolicy = frame.policy

/** The policy of a page with this operator's logo, which allows its origin alone. */
export function policyWith({ logo }: Operator): string {
  return logo === null ? pagePolicy : frame.policyFor({ pictures: `data: ${new URL(logo).origin}` })
}

/** Writes the page; `operator` is the operator of the site, if known, and `heading` replaces the title. */
export function renderHtml(
  problem: Problem,
  operator: Operator | null = null,
  heading: string = errorRows[problem.error_name].title,
): string {
  const row = errorRows[problem.error_name]
  return frame.page(
    `Error ${row.code}: ${heading}`,
    html`<main>
<header>
${operator !== null && badge(operator)}<p class="code">Error ${row.code}</p>
<h1>${heading}</h1>
</header>
${way(row.stage)}
<section aria-labelledby="what">
<h2 id="what">What happened</h2>
<p>${problem.detail}</p>
</section>
<section class="next" aria-labelledby="next">
<h2 id="next">What you should do</h2>
<p>${emphasize(problem.what_you_should_do)}</p>
${problem.retry_after !== undefined && wait(problem.retry_after, problem.timestamp)}
</section>
<section aria-labelledby="facts">
<h2 id="facts">If you report this</h2>
<dl>
${operator !== null && contactLine(operator)}<div><dt>Ray ID</dt><dd><code id="ray">${problem.ray_id}</code> <button type="button" id="copy" hidden>Copy</button></dd></div>
<div><dt>Time</dt><dd>${moment(problem.timestamp)}</dd></div>
<div><dt>Host</dt><dd>${problem.zone}</dd></div>
<div><dt>Name</dt><dd><code>${problem.error_name}</code></dd></div>
</dl>
</section>
</main>
<footer>${problem.footer}</footer>`,
  )
}

// Templates find the gaps by sample values, none of which can occur in the fixed text.

function badge({ name, logo }: Operator): HtmlValue {
  if (name === null) return null
  const shown = logo === null ? spellOut(name) : html`<img src="${spellOut(logo)}" alt="${spellOut(name)}">`
  return html`<p class="operator">${shown}</p>
`
}

function contactLine({ contact }: Operator): HtmlValue {
  if (contact === null) return null
  const text = spellOut(contact)
  const target = mail.test(contact) ? html`mailto:${text}` : isLink(contact) && text
  return html`<div><dt>Contact</dt><dd>${target === false ? text : html`<a href="${target}">${text}</a>`}</dd></div>
`
}

const mail = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/

function isLink(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)
}

interface Station {
  readonly stage: Stage
  readonly name: string
  readonly trouble: string
  readonly drawing: string
}

const stations: readonly Station[] = [
  {
    stage: 'client',
    name: 'You',
    trouble: 'Problem here',
    drawing: 'M5 5h14v11H5zM2 20h20',
  },
  { stage: 'gateway', name: 'Gateway', trouble: 'Stopped here', drawing: gate },
  {
    stage: 'origin',
    name: 'Origin',
    trouble: 'Problem here',
    drawing: 'M4 4h16v7H4zM4 13h16v7H4zM8 7.5h.01M8 16.5h.01M12 7.5h4M12 16.5h4',
  },
]

/** Draws the path from the client to the origin, and marks where the request was stopped. */
function way(stopped: Stage): Html {
  const at = stations.findIndex(station => station.stage === stopped)
  // A request that was refused for its own faults has still reached the gateway.
  const reached = Math.max(at, 1)
  return html`<ol class="way" aria-label="The way of your request">
${stations.map((station, i) => {
  if (i === at) return stop(station, 'bad', station.trouble)
  return i <= reached ? stop(station, 'good', 'Working') : stop(station, 'idle', 'Not reached')
})}</ol>`
}

function stop(station: Station, state: 'good' | 'bad' | 'idle', words: string): Html {
  return html`<li class="${state}"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="${raw(station.drawing)}"/></svg><b>${station.name}</b> <span>${words}</span></li>
`
}

/** Describes when to retry: in plain words, until the script counts down. */
function wait(seconds: number, timestamp: string): Html {
  const until = timestampOf(Date.parse(timestamp) + seconds * 1000)
  return html`<div class="wait">
<p id="wait" data-seconds="${seconds}">You can try again in ${seconds} s, at ${moment(until)}.</p>
<p id="ready" role="status"></p>
<progress id="left" max="${seconds}" value="${seconds}" aria-label="Waiting time left" hidden></progress>
<a id="again" href="">Try now</a>
</div>`
}

function moment(timestamp: string): Html {
  return html`<time datetime="${timestamp}">${timestamp.replace('T', ' ').replace('Z', ' UTC')}</time>`
}

function emphasize(markdown: string): readonly Html[] {
  return markdown
    .split(/\*\*(.+?)\*\*/)
    .map((text, i) => (i % 2 === 0 ? html`${text}` : html`<strong>${text}</strong>`))
}
