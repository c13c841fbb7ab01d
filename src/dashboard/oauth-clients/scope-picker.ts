// The form of an OAuth client's scopes: all scopes by subject, each with a box that makes it optional.

import { type Html, html } from '../../base/text/html.ts'
import type { Draft } from '../parts/draft.ts'
import { pickPreset, picker } from '../parts/picker.ts'
import { type Client, refreshing, type Scope } from './client.ts'

export const scopeLabels = { scopes: 'Scopes' } as const

/** Single scopes have no place in the form, but the list has. */
export const renamedScopes = { '/scopes': 'scopes', '/optional_scopes': 'scopes' } as const

export const chooseOne = 'Choose at least one.'

/** Makes the members of the body from a form. A scope that is not requested cannot be optional. */
export function bodyOfScopes(draft: Draft) {
  const scopes = draft.ticked('scopes')
  return { scopes, optional_scopes: draft.ticked('optional_scopes').filter(id => scopes.includes(id)) }
}

/** Returns the field values of an existing client. */
export function valuesOfScopes({ scopes, optional_scopes }: Client): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...scopes.map(id => [`scopes.${id}`, 'on'] as const),
    ...optional_scopes.map(id => [`optional_scopes.${id}`, 'on'] as const),
  ])
}

export function scopePicker(draft: Draft, scopes: readonly Scope[]): Html {
  return picker(draft, {
    name: 'scopes',
    label: scopeLabels.scopes,
    hint: 'Ask for what the app needs: people see each of them. They may decline what you tick as optional.',
    find: 'Find a scope',
    items: scopesToPick(scopes),
    option: one => option(draft, one),
  })
}

/** Returns the draft with the scopes of its preset ticked. */
export function pickScopes(draft: Draft, scopes: readonly Scope[]): Draft {
  return pickPreset(draft, 'scopes', scopesToPick(scopes))
}

function scopesToPick(scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter(({ id }) => id !== refreshing)
}

function option(draft: Draft, { id, name, description }: Scope): Html {
  const own = `scopes.${id}`
  const declined = `optional_scopes.${id}`
  const box = (field: string, label: Html) =>
    html`<input id="${field}" name="${field}" type="checkbox" value="on"${draft.has(field) && html` checked`}>${label}`
  return html`${box(
    own,
    html`<div><label for="${own}">${name} <code>${id}</code></label><p>${description}</p></div>`,
  )}${
    id !== 'openid' &&
    html`<span class="optional">${box(declined, html`<label for="${declined}">optional<span class="unseen">: ${name}</span></label>`)}</span>`
  }`
}
