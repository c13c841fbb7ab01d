// The form of what an OAuth client may ask for: all scopes, by what they are about, each with a box that lets people decline it.

import { type Html, html } from '../../base/text/html.ts'
import type { Draft } from '../parts/draft.ts'
import { filterBox } from '../parts/fields.ts'
import { type Client, refreshing, type Scope } from './client.ts'

export const scopeLabels = { scopes: 'Scopes' } as const

/** Single scopes have no place in the form, the list has. */
export const renamedScopes = { '/scopes': 'scopes', '/optional_scopes': 'scopes' } as const

/** What is wrong where none is ticked. */
export const chooseOne = 'Choose at least one.'

/** Makes the members of the body that a form describes. A scope that is not asked for cannot be declined. */
export function bodyOfScopes(draft: Draft) {
  const scopes = draft.ticked('scopes')
  return { scopes, optional_scopes: draft.ticked('optional_scopes').filter(id => scopes.includes(id)) }
}

/** Returns the values of the fields for a client as it is. */
export function valuesOfScopes({ scopes, optional_scopes }: Client): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...scopes.map(id => [`scopes.${id}`, 'on'] as const),
    ...optional_scopes.map(id => [`optional_scopes.${id}`, 'on'] as const),
  ])
}

export function scopePicker(draft: Draft, scopes: readonly Scope[]): Html {
  const groups = Map.groupBy(
    scopes.filter(({ id }) => id !== refreshing),
    ({ category }) => category,
  )
  const fault = draft.fault('scopes')
  return html`<fieldset class="field" id="scopes" tabindex="-1"${fault !== undefined && html` aria-invalid="true" aria-describedby="scopes-fault"`}>
<legend>${scopeLabels.scopes}</legend>
<p class="hint">Ask for what the app needs: people see each of them. They may decline what you tick as optional.</p>
${filterBox('scope-list', 'Find a scope')}${fault !== undefined && html`<p class="fault" id="scopes-fault">${fault}</p>`}
<div id="scope-list" class="picker">${[...groups].map(
    ([category, some]) =>
      html`<section data-group aria-label="${titleOf(category)}"><h2>${titleOf(category)}</h2>${some.map(one => option(draft, one))}</section>`,
  )}</div></fieldset>`
}

function option(draft: Draft, { id, name, description }: Scope): Html {
  const own = `scopes.${id}`
  const declined = `optional_scopes.${id}`
  const box = (field: string, label: Html) =>
    html`<input id="${field}" name="${field}" type="checkbox" value="on"${draft.has(field) && html` checked`}>${label}`
  return html`<div class="option">${box(
    own,
    html`<div><label for="${own}">${name} <code>${id}</code></label><p>${description}</p></div>`,
  )}${
    id !== 'openid' &&
    html`<span class="optional">${box(declined, html`<label for="${declined}">optional<span class="unseen">: ${name}</span></label>`)}</span>`
  }</div>`
}

/** Writes the name of a category, such as `ai_gateway`, for people. */
function titleOf(category: string): string {
  const words = category.replaceAll('_', ' ').replace(/^ai\b/, 'AI')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
