// A field for an expression (CEL), with a mark at its faulty character.

import { type Html, html } from '../../base/text/html.ts'
import type { Draft } from './draft.ts'
import { areaField } from './fields.ts'

type Area = Parameters<typeof areaField>[1]

/** Makes a field for an expression; under it is the line with its fault, and a mark at the character. */
export function expressionField(draft: Draft, field: Omit<Area, 'isCode' | 'maxLength'>): Html {
  const place = placeIn(draft.fault(field.name) ?? '', draft.value(field.name))
  return html`${areaField(draft, { rows: 3, ...field, isCode: true, maxLength: 4096 })}${
    place !== null &&
    html`<pre class="key flaw" tabindex="0" aria-label="Line ${place.number}">${place.before}<mark>${place.at}</mark>${place.after}
${' '.repeat(place.before.length)}^</pre>`
  }`
}

/** Finds the character that a fault names: `line 1, column 5`, both from 1. */
function placeIn(fault: string, text: string) {
  const [, line, column] = /\bline (\d+), column (\d+):/.exec(fault) ?? []
  const visible = text.split('\n')[Number(line) - 1]
  if (visible === undefined) return null
  const from = Number(column) - 1
  const at = String.fromCodePoint(visible.codePointAt(from) ?? 0x20)
  // A tab before the mark would move it.
  const before = visible.slice(0, from).replaceAll('\t', ' ')
  return { number: Number(line), before, at, after: visible.slice(from + at.length) }
}
