// Renders a record in one format once per error, and then only fills in the values.

import type { Occasion } from '../catalogue/problem.ts'
import { type Refusal, refuse } from '../catalogue/refusal.ts'
import { asciiJson } from './json.ts'
import { Template, type Write } from './template.ts'

/** A way to write the record; its escaping makes any zone name safe where the renderer puts it. */
export interface Form {
  readonly type: string
  readonly policy: string | null
  readonly write: Write
  readonly escaping: (text: string) => string
  readonly templates: Map<string, Template>
}

/** Makes a form with nothing cached yet. */
export function form(
  type: string,
  write: Write,
  escaping: Form['escaping'] = escapeQuoted,
  policy: string | null = null,
): Form {
  return { type, policy, write, escaping, templates: new Map() }
}

/** Writes the record of a refusal; `documentation` is as in `problem`. */
export function render(
  form: Form,
  refusal: Refusal,
  occasion: Occasion,
  documentation: string | null,
): string {
  const zone = plain.test(occasion.zone) ? occasion.zone : form.escaping(occasion.zone)
  return templateOf(form, refusal, documentation).fill(refusal, occasion, zone)
}

const plain = /^[\w.-]*$/

/** Escapes for a string in JSON, which is also valid in a quoted YAML scalar. */
function escapeQuoted(text: string): string {
  return asciiJson(text).slice(1, -1)
}

function templateOf(form: Form, { error, wording }: Refusal, documentation: string | null): Template {
  if (wording?.isOfRequest) return new Template(refuse(error, { wording }), documentation, form.write)
  const words = wording === null ? '' : ` ${wording.heading} ${wording.detail} ${wording.guidance}`
  const key = `${error} ${documentation}${words}`
  const cached = form.templates.get(key)
  if (cached) return cached
  const template = new Template(refuse(error, wording === null ? {} : { wording }), documentation, form.write)
  form.templates.set(key, template)
  return template
}
