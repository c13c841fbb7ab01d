// Whole forms: the summary of faults, hidden fields, and confirmations of irreversible actions.

import { type Html, html } from '../../base/text/html.ts'
import { button, form, type FormFrame } from '../../pages/parts/components.ts'
import type { View } from '../page/page-request.ts'
import { Draft, etagField, keyField } from './draft.ts'
import { textField } from './fields.ts'

interface FormParts {
  readonly frame: FormFrame
  readonly draft: Draft
  /** The names of fields in the summary of faults; those in a list have the name of the list. */
  readonly labels: Readonly<Record<string, string>>
  /** Whether its resource is created once, however often it is sent. */
  readonly isOnce?: boolean
  readonly send: string
  readonly look?: '' | 'danger'
  readonly cancel?: string
  readonly beside?: Html
}

/** Makes a form of fields, with its faults above and its buttons below. */
export function draftForm(parts: FormParts, fields: Html): Html {
  const { frame, draft, labels, isOnce = false, send, look = '', cancel, beside = null } = parts
  const hidden = {
    ...(isOnce && { [keyField]: draft.key }),
    ...(draft.etag !== undefined && { [etagField]: draft.etag }),
  }
  // Enter presses the first button of a form, which must not be one that only adds a field.
  return form(
    { ...frame, hidden: { ...frame.hidden, ...hidden } },
    html`<button class="default" tabindex="-1" aria-hidden="true">${send}</button>${summary(draft, labels)}${fields}
<div class="actions">${button(send, look)}${beside}${cancel !== undefined && html`<a href="${cancel}">Cancel</a>`}</div>`,
    'card',
  )
}

/**
 * Lists all mistakes in a form in the order of its fields, each with a link to its own; it has the focus, so
 * that it is read first.
 */
function summary(draft: Draft, labels: Readonly<Record<string, string>>): Html | null {
  const order = Object.keys(labels)
  const faults = Object.entries(draft.faults)
    .map(([pointer, sentence]) => {
      const name = pointer.slice(1).replaceAll('/', '.')
      const label = Object.hasOwn(labels, name) ? name : name.split('.')[0]!
      return { name, label, sentence }
    })
    .toSorted((a, b) => order.indexOf(a.label) - order.indexOf(b.label))
  if (faults.length === 0) return null
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus><p>Nothing was done yet. Check this:</p><ul>${faults.map(
    ({ name, label, sentence }) =>
      Object.hasOwn(labels, label)
        ? html`<li><a href="#${/\.\d+$/.test(name) ? name : label}">${labels[label]!}</a>: ${sentence}</li>`
        : html`<li>${sentence}</li>`,
  )}</ul></div>`
}

interface Confirmation {
  readonly frame: FormFrame
  readonly draft?: Draft
  readonly what: Html
  readonly send: string
  readonly cancel: string
  readonly isOnce?: boolean
  /** What must be typed, for the most serious actions. */
  readonly typed?: { readonly label: string; readonly word: string }
}

/** The field in which a name is typed to confirm. */
const typedField = 'typed'

/** Makes a page that confirms an irreversible action. */
export function confirmationPage({
  title,
  crumbs,
  ...parts
}: Confirmation & Required<Pick<View, 'title' | 'crumbs'>>): View {
  return { title, crumbs, status: parts.draft?.status, content: confirmation(parts) }
}

/** Makes the confirmation of an irreversible action. */
export function confirmation({ draft = new Draft(), what, typed, ...parts }: Confirmation): Html {
  const field =
    typed &&
    textField(draft, {
      name: typedField,
      label: typed.label,
      hint: typed.word,
      expected: typed.word,
      hasFocus: true,
    })
  return draftForm(
    { ...parts, draft, labels: { [typedField]: 'Confirmation' }, look: 'danger' },
    html`<div class="what">${what}</div>${field ?? null}`,
  )
}

/** Whether the confirming word was typed; spaces around it do not count. */
export function isTyped(draft: Draft, word: string): boolean {
  return draft.value(typedField).trim() === word
}

/** Returns the draft with a fault at the field in which a name is typed. */
export function notTyped(draft: Draft): Draft {
  return draft.withFault(typedField, 'This does not match.')
}

interface Danger {
  readonly title: string
  readonly text: string
  readonly path: string
  readonly link: string
}

/** Makes the part of a page with irreversible actions; each leads to a page that says what will happen. */
export function dangerZone(dangers: readonly Danger[]): Html | null {
  if (dangers.length === 0) return null
  return html`<section class="card danger-zone" aria-labelledby="danger"><h2 id="danger">Danger zone</h2><ul class="rows">${dangers.map(
    ({ title, text, path, link }) =>
      html`<li><div><h3>${title}</h3><p>${text}</p></div><a class="button danger small" href="${path}">${link}</a></li>`,
  )}</ul></section>`
}
