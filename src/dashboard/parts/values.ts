// Values on pages: times, and values to be copied.

import { type Html, html } from '../../base/text/html.ts'
import { moment, second, isolated } from '../../pages/parts/components.ts'

/** Writes a time of the API; `none` if there is none. Scripts convert it to the viewer's zone. */
export function time(iso: string | null | undefined, none = 'never'): Html {
  return iso == null ? html`${none}` : moment(Date.parse(iso))
}

/** Writes a time to the second, for events that occur many times a minute. */
export function exactTime(iso: string): Html {
  return second(Date.parse(iso))
}

/** Writes the resources of a consent. */
export function resourceOf(resource: readonly string[]): Html {
  return resource.length === 0
    ? html`<span class="whole">All APIs</span>`
    : html`${resource.map((one, i) => html`${i > 0 && ', '}<code>${one}</code>`)}`
}

const briefly = 100

/** Cuts a long text for lists: all of it is on a page of its own. */
export function brief(text: string, maxLength = briefly): string {
  const cut = text.slice(0, maxLength)
  return cut.length === text.length ? text : `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`
}

/** About as many characters as fit on a line in every column. */
const fitting = 12

/**
 * Writes a text on one line, such as a name or an id: the part that does not fit is cut off, and seen by
 * hovering. Long lists set the number of characters.
 */
export function oneLine(text: string, maxLength = briefly): Html {
  return html`<span class="clip"${text.length > fitting && html` title="${brief(text)}"`}>${isolated(brief(text, maxLength))}</span>`
}

/** How recent a use must be, in ms. */
const lately = 48 * 3_600_000

/** Warns that something about to end was used recently, and what to do first; null if it was not. */
export function usedLately(iso: string | undefined, advice: string): Html | null {
  if (iso === undefined || Date.now() - Date.parse(iso) > lately) return null
  return html`<p class="notice bad">It was used lately, ${time(iso)}: what still uses it will fail. ${advice}</p>`
}

/** Makes a value to be copied: one click selects all of it, and scripts add a button. */
export function copyable(label: string, value: string): Html {
  return html`<div class="copyable"><p class="label">${label}</p><code class="key" data-copy>${value}</code></div>`
}

/** Makes a value that is shown only once. */
export function shownOnce(label: string, value: string, advice: string): Html {
  return html`<div class="notice good" role="status"><p><b>${advice}</b> It is shown only now.</p>${copyable(label, value)}</div>`
}

/** Makes code to be copied. */
export function codeBlock(label: string, code: string): Html {
  return html`<div class="copyable"><p class="label">${label}</p><pre class="key" tabindex="0" data-copy>${code}</pre></div>`
}
