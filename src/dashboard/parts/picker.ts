// A long list of permissions or scopes: by category, each a box to tick, with buttons that tick presets.

import { type Html, html } from '../../base/text/html.ts'
import { categoryTitle } from '../../permissions/categories.ts'
import { presets, presetsWith } from '../../permissions/presets.ts'
import type { Draft } from './draft.ts'
import { filterBox } from './fields.ts'

interface Picker<T> {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly find: string
  /** The name of the preset of everything; by default that of its row. */
  readonly all?: string
  readonly items: readonly T[]
  readonly isOpen?: (item: T) => boolean
  readonly option: (item: T) => Html
}

interface Item {
  readonly id: string
  readonly name: string
  readonly category: string
}

/** The field of the button that ticks a preset: it sends the form, which comes back with the boxes ticked. */
export const presetField = 'preset'

/** Makes the list. Scripts tick presets in the page, filter it and count the ticked boxes. */
export function picker<T extends Item>(draft: Draft, parts: Picker<T>): Html {
  const { name, label, hint, find, all, items, isOpen = () => true, option } = parts
  const groups = Map.groupBy(items, ({ category }) => category)
  const fault = draft.fault(name)
  const list = `${name}-list`
  const described = [`${name}-hint`, fault !== undefined && `${name}-fault`].filter(Boolean).join(' ')
  return html`<fieldset class="field" id="${name}" tabindex="-1" aria-describedby="${described}"${fault !== undefined && html` aria-invalid="true"`}>
<legend>${label}</legend>
<p class="hint" id="${name}-hint">${hint}</p>${fault !== undefined && html`<p class="fault" id="${name}-fault">${fault}</p>`}
${presetButtons(draft, list, items.filter(isOpen), all)}${filterBox(list, find)}
<div id="${list}" class="picker">${Array.from(
    groups,
    ([category, some]) =>
      html`<section data-group aria-label="${categoryTitle(category)}"><h2>${categoryTitle(category)}</h2>${some.map(
        one =>
          html`<div class="option" data-presets="${isOpen(one) && presetsWith(one).join(' ')}">${option(one)}</div>`,
      )}</section>`,
  )}</div></fieldset>`
}

/** Makes the buttons of the non-empty presets. */
function presetButtons(draft: Draft, list: string, open: readonly Item[], all: string | undefined): Html {
  const offered = presets.filter(({ holds }) => open.some(holds))
  return html`<div class="actions presets" role="group" aria-label="Tick a usual choice">${offered.map(
    ({ id, title, description }) =>
      html`<button class="plain small" name="${presetField}" value="${id}" formnovalidate title="${description}" data-ticks="${list}"${draft.value(presetField) === id && html` autofocus`}>${(id === 'all' && all) || title}</button>`,
  )}</div>`
}

/** Whether a button was pressed that ticks a preset: then nothing is submitted. */
export function isPicking(draft: Draft): boolean {
  return draft.has(presetField)
}

/**
 * Returns the draft with the boxes of its preset ticked, of those that can be chosen, and no others of that
 * name.
 */
export function pickPreset(draft: Draft, name: string, open: readonly Item[]): Draft {
  const preset = presets.find(({ id }) => id === draft.value(presetField))
  return preset === undefined
    ? draft
    : draft.ticking(
        name,
        open.filter(preset.holds).map(({ id }) => id),
      )
}
