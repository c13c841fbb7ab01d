// The components of our pages.

import { memoizeOnce } from '../../base/memo.ts'
import { type Html, type HtmlValue, html } from '../../base/text/html.ts'

/** Common parts of all forms: the action, and the token that proves their origin. */
export interface FormFrame {
  readonly action: string
  readonly token: string
  readonly hasFiles?: boolean
  readonly hidden?: Readonly<Record<string, string>>
  /** Read by a script. */
  readonly data?: Readonly<Record<string, string>>
}

interface Field {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password'
  /** The previous input; never for passwords and codes. */
  readonly value?: string
  readonly hint?: string
  readonly fault?: string | undefined
  readonly autocomplete: string
  readonly isOptional?: boolean
  readonly isCode?: boolean
  readonly maxLength?: number
  readonly minimum?: number
  readonly hasFocus?: boolean
}

export function form(
  { action, token, hasFiles = false, hidden = {}, data = {} }: FormFrame,
  content: Html,
  name?: string,
): Html {
  return html`<form method="post" action="${action}"${hasFiles && html` enctype="multipart/form-data"`}${name !== undefined && html` class="${name}"`}${Object.entries(
    data,
  ).map(([name, value]) => html` data-${name}="${value}"`)}>
<input type="hidden" name="form_token" value="${token}">${Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}
${content}
</form>`
}

export function field(field: Field): Html {
  const { name, label, type = 'text', value = '', hint, fault } = field
  const describedBy = [hint !== undefined && `${name}-hint`, fault !== undefined && `${name}-fault`].filter(
    Boolean,
  )
  return html`<div class="field${field.isCode === true && ' code'}">
<label for="${name}">${label}${field.isOptional === true && html` <span class="hint">(optional)</span>`}</label>
${
  hint !== undefined &&
  html`<p class="hint" id="${name}-hint">${hint}</p>
`
}<input id="${name}" name="${name}" type="${type}" autocomplete="${field.autocomplete}"${[
    value !== '' && html` value="${value}"`,
    field.isOptional !== true && html` required`,
    field.isCode === true && html` inputmode="numeric"`,
    (field.isCode === true || type !== 'text') && html` autocapitalize="none" spellcheck="false"`,
    field.maxLength !== undefined && html` maxlength="${field.maxLength}"`,
    field.minimum !== undefined && html` minlength="${field.minimum}"`,
    describedBy.length > 0 && html` aria-describedby="${describedBy.join(' ')}"`,
    fault !== undefined && html` aria-invalid="true"`,
    (field.hasFocus === true || fault !== undefined) && html` autofocus`,
  ]}>
${
  fault !== undefined &&
  html`<p class="fault" id="${name}-fault">${fault}</p>
`
}</div>`
}

export function button(text: string, look = '', sent?: readonly [name: string, value: string]): Html {
  const name = sent !== undefined && html` name="${sent[0]}" value="${sent[1]}"`
  return html`<button${look !== '' && html` class="${look}"`}${name}>${text}</button>`
}

export function notice(text: HtmlValue, kind: 'bad' | 'good' | '' = ''): Html {
  return html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
}

/** Makes a list of facts, each with its name; those that are null are left out. */
export function facts(rows: readonly (readonly [name: HtmlValue, fact: HtmlValue])[]): Html {
  return html`<dl class="facts">
${rows
  .filter(([, fact]) => fact !== null)
  .map(
    ([name, fact]) => html`<div><dt>${name}</dt><dd>${fact}</dd></div>
`,
  )}</dl>`
}

/** Isolates foreign text, so that its direction does not affect the text around it. */
export function isolated(text: string): Html {
  return html`<bdi>${text}</bdi>`
}

/** Writes the name of an account, with the beginning of its id if another one of those has the same name. */
export function accountName(account: NamedAccount, all: readonly NamedAccount[]): Html {
  const { id, name } = account
  const isAlone = all.every(one => one.id === id || one.name !== name)
  return isAlone ? isolated(name) : html`${isolated(name)} <span class="hint">${id.slice(0, 8)}…</span>`
}

interface NamedAccount {
  readonly id: string
  readonly name: string
}

export function moment(at: number): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${writtenOut().format(at)} UTC</time>`
}

export function second(at: number): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${toSeconds().format(at)} UTC</time>`
}

const writtenOut = memoizeOnce(() => inEnglish('short'))
const toSeconds = memoizeOnce(() => inEnglish('medium'))

function inEnglish(timeStyle: 'short' | 'medium'): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle, timeZone: 'UTC' })
}

const drawings = {
  check: 'M5 13l4 4L19 7',
  shield: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4',
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17h.01',
} as const

/** Draws an icon that only repeats the text beside it. */
export function sign(name: keyof typeof drawings): Html {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${drawings[name]}"/></svg>`
}
