// The fields of forms: each with its label, its hint and its fault, which a screen reader reads with it, and
// with the previous input.

import { type Html, html } from '../../base/text/html.ts'
import type { Draft } from './draft.ts'

interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly isOptional?: boolean
  /**
   * Whether browsers do not require it, though it is not labelled optional: it depends on another field, or
   * only filters.
   */
  readonly isDependent?: boolean
}

interface TextField extends Field {
  readonly type?: 'text' | 'url' | 'email' | 'number' | 'date' | 'datetime-local' | 'search'
  readonly maxLength?: number
  readonly placeholder?: string
  /** A token of the HTML standard's autofill. */
  readonly autocomplete?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly hasFocus?: boolean
  /** The text that must be typed, word for word. */
  readonly expected?: string
}

interface Option {
  readonly value: string
  readonly label: string
  readonly hint?: string | null
  readonly isDisabled?: boolean
}

/** Makes a field of one line. */
export function textField(draft: Draft, field: TextField): Html {
  const {
    name,
    type = 'text',
    maxLength,
    minimum,
    maximum,
    placeholder,
    autocomplete = 'off',
    hasFocus,
  } = field
  const value = draft.value(name)
  return labelled(
    draft,
    field,
    html`<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${[
      value !== '' && html` value="${value}"`,
      isRequired(field) && html` required`,
      maxLength !== undefined && html` maxlength="${maxLength}"`,
      minimum !== undefined && html` min="${minimum}"`,
      maximum !== undefined && html` max="${maximum}"`,
      placeholder !== undefined && html` placeholder="${placeholder}"`,
      // Times have seconds, which a step of a minute would refuse.
      type === 'datetime-local' && html` step="any"`,
      type === 'url' && html` autocapitalize="none" spellcheck="false"`,
      field.expected !== undefined && html` data-typed="${field.expected}"`,
      hasFocus === true && draft.status === undefined && html` autofocus`,
      described(draft, field),
    ]}>`,
  )
}

/**
 * Makes a field for a secret, which is never filled with earlier input. Its name begins with `proof.`, so
 * that no other page retains it.
 */
export function secretField(draft: Draft, field: Field & { readonly maxLength: number }): Html {
  const { name, maxLength } = field
  return labelled(
    draft,
    field,
    html`<input id="${name}" name="${name}" type="password" autocomplete="off" maxlength="${maxLength}"${[isRequired(field) && html` required`, described(draft, field)]}>`,
  )
}

/** Makes a field of several lines; `isCode` for code. */
export function areaField(
  draft: Draft,
  field: Field & { readonly rows?: number; readonly isCode?: boolean; readonly maxLength?: number },
): Html {
  const { name, rows = 4, isCode = false, maxLength } = field
  return labelled(
    draft,
    field,
    // The first line feed of a text area is not part of its text (HTML 13.2.6.4.7).
    html`<textarea id="${name}" name="${name}" rows="${rows}" autocomplete="off"${[
      isRequired(field) && html` required`,
      maxLength !== undefined && html` maxlength="${maxLength}"`,
      isCode && html` class="code" autocapitalize="none" spellcheck="false"`,
      described(draft, field),
    ]}>
${draft.value(name)}</textarea>`,
  )
}

/** Makes a field for a file, which is read as text; the form must have `hasFiles`. */
export function fileField(draft: Draft, field: Field & { readonly accept: string }): Html {
  const { name, accept, isOptional } = field
  return labelled(
    draft,
    field,
    html`<input id="${name}" name="${name}" type="file" accept="${accept}"${isOptional !== true && html` required`}${described(draft, field)}>`,
  )
}

/** Makes a list to choose one of. */
export function selectField(draft: Draft, field: Field & { readonly options: readonly Option[] }): Html {
  return labelled(
    draft,
    field,
    html`<select id="${field.name}" name="${field.name}"${described(draft, field)}>${optionsOf(draft, field)}</select>`,
  )
}

/** Like `selectField`, in a cell of a table: the label is for screen readers, since row and column say it. */
export function cellSelect(
  draft: Draft,
  field: Pick<Field, 'name' | 'label'> & { readonly options: readonly Option[] },
): Html {
  const { name, label } = field
  return html`<div class="field"><select id="${name}" name="${name}" aria-label="${label}"${described(draft, { name, label })}>${optionsOf(draft, field)}</select>${faultOf(draft, name)}</div>`
}

function optionsOf(
  draft: Draft,
  { name, options }: { readonly name: string; readonly options: readonly Option[] },
): readonly Html[] {
  const chosen = draft.value(name)
  return options.map(
    ({ value, label, isDisabled }) =>
      html`<option value="${value}"${value === chosen && html` selected`}${isDisabled === true && html` disabled`}>${label}</option>`,
  )
}

/** Makes a choice of one, with all options in view. */
export function radios(draft: Draft, field: Field & { readonly options: readonly Option[] }): Html {
  const { name, options } = field
  const chosen = draft.value(name)
  return group(
    draft,
    field,
    options.map(option => box('radio', `${name}.${option.value}`, name, option, option.value === chosen)),
  )
}

/** Makes boxes to tick: each is a field of its own, `name.value`. */
export function checkboxes(draft: Draft, field: Field & { readonly options: readonly Option[] }): Html {
  const boxes = field.options.map(option => {
    const name = `${field.name}.${option.value}`
    return html`<div class="option">${boxToTick(draft, name, option)}</div>`
  })
  return group(draft, field, boxes)
}

/** Makes one box of several to tick, with its label and hint. */
export function boxToTick(draft: Draft, name: string, option: Omit<Option, 'value'>): Html {
  return boxOf('checkbox', name, name, { ...option, value: 'on' }, draft.has(name))
}

/**
 * Makes a field by which scripts filter a long list of boxes by its id, and count the ticked ones; without
 * scripts all of it is in view.
 */
export function filterBox(list: string, label: string): Html {
  return html`<div class="filter" data-filter="${list}" hidden><label>${label} <input type="search" autocomplete="off"></label> <output></output></div>`
}

/** Makes one box to tick. */
export function checkbox(draft: Draft, { name, label, hint }: Field): Html {
  return html`<div class="field">${box('checkbox', name, name, { value: 'on', label, hint: hint ?? null }, draft.has(name))}${faultOf(draft, name)}</div>`
}

/**
 * Makes a list of fields of one line, each with its own fault, and a button that adds one: it sends the form,
 * which comes back with one more.
 */
export function listField(
  draft: Draft,
  field: Field & { readonly type?: TextField['type']; readonly maxLength?: number; readonly add: string },
): Html {
  const { name, label, type = 'text', maxLength, add } = field
  const values = draft.list(name)
  const inputs = Array.from({ length: draft.lengthOf(name) }, (_, i) => {
    const own = `${name}.${i}`
    const isNew = draft.isGrowing && i === values.length
    return html`<li><input id="${own}" name="${own}" type="${type}" autocomplete="off" aria-label="${label} ${i + 1}" autocapitalize="none" spellcheck="false"${[
      values[i] !== undefined && html` value="${values[i]}"`,
      maxLength !== undefined && html` maxlength="${maxLength}"`,
      isNew && html` autofocus`,
      draft.fault(own) !== undefined && html` aria-invalid="true" aria-describedby="${own}-fault"`,
    ]}>${faultOf(draft, own)}</li>`
  })
  return group(draft, field, [
    html`<ul class="fields">${inputs}</ul><button class="plain small" name="more" value="${name}" formnovalidate>${add}</button>`,
  ])
}

function isRequired({ isOptional = false, isDependent = false }: Field): boolean {
  return !isOptional && !isDependent
}

function labelled(draft: Draft, { name, label, hint, isOptional }: Field, control: Html): Html {
  return html`<div class="field">
<label for="${name}">${label}${isOptional === true && optional}</label>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}${control}
${faultOf(draft, name)}</div>`
}

function group(draft: Draft, field: Field, content: readonly Html[]): Html {
  const { name, label, hint, isOptional } = field
  return html`<fieldset class="field" id="${name}" tabindex="-1"${described(draft, field)}>
<legend>${label}${isOptional === true && optional}</legend>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}${content}
${faultOf(draft, name)}</fieldset>`
}

function box(...parts: Parameters<typeof boxOf>): Html {
  return html`<div class="option">${boxOf(...parts)}</div>`
}

function boxOf(
  type: 'radio' | 'checkbox',
  id: string,
  name: string,
  option: Option,
  isChosen: boolean,
): Html {
  const { value, label, hint = null, isDisabled } = option
  return html`<input id="${id}" name="${name}" type="${type}" value="${value}"${[
    isChosen && html` checked`,
    isDisabled === true && html` disabled`,
    hint !== null && html` aria-describedby="${id}-hint"`,
  ]}><div><label for="${id}">${label}</label>${hint !== null && html`<p id="${id}-hint">${hint}</p>`}</div>`
}

const optional = html` <span class="hint">(optional)</span>`

function faultOf(draft: Draft, name: string): Html | false {
  const fault = draft.fault(name)
  return fault !== undefined && html`<p class="fault" id="${name}-fault">${fault}</p>`
}

function described(draft: Draft, { name, hint }: Field): Html | false {
  const isFaulty = draft.fault(name) !== undefined
  const describedBy = [hint !== undefined && `${name}-hint`, isFaulty && `${name}-fault`].filter(Boolean)
  return (
    describedBy.length > 0 &&
    html` aria-describedby="${describedBy.join(' ')}"${isFaulty && html` aria-invalid="true"`}`
  )
}
