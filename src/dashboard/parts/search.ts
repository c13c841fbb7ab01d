// Filters of a list: words, and choices, in the address of the page.

import { type Html, html } from '../../base/text/html.ts'

interface Search {
  readonly path: string
  readonly label: string
  readonly name: string
  readonly value: string
  readonly choices?: readonly Choice[]
}

interface Choice {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, label: string])[]
}

/** Makes a form that is sent with GET, so that the result can be bookmarked and shared. */
export function searchForm({ path, label, name, value, choices = [] }: Search): Html {
  return html`<form class="search" role="search" method="get" action="${path}">
<div class="field"><label for="search-${name}">${label}</label><input id="search-${name}" name="${name}" type="search" value="${value}" autocomplete="off"></div>
${choices.map(
  choice =>
    html`<div class="field"><label for="search-${choice.name}">${choice.label}</label><select id="search-${choice.name}" name="${choice.name}">${choice.options.map(
      ([option, text]) =>
        html`<option value="${option}"${option === choice.value && html` selected`}>${text}</option>`,
    )}</select></div>`,
)}<button class="plain">Search</button></form>`
}
