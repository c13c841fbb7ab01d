// /docs/api and /docs/api/{operation}: the document of the API as pages for people.

import { type Html, type HtmlValue, html } from '../../base/text/html.ts'
import type { Schema } from '../schema/schema.ts'
import { curlOf } from './curl.ts'
import { type Document, type Operation, operationsOf, type Parameter, type Response } from './operations.ts'
import { type DocsPage, paragraphs, withCode } from './page.ts'
import { type SchemaRow, schemaRow, schemaRows } from './schema-rows.ts'

export class ApiPages {
  readonly #document: Document
  readonly #operations: ReadonlyMap<string, Operation>

  constructor(document: Document) {
    this.#document = document
    this.#operations = new Map(operationsOf(document).map(one => [one.id, one]))
  }

  index(): DocsPage {
    const { info, tags } = this.#document
    const content = html`${paragraphs(info.description)}
<p>For programs, the same is an OpenAPI 3.1 document: <code>GET /client/v4/openapi.json</code>. With a token, call it as each page shows.</p>
${tags.map(
  ({ name, description }) => html`<section>
<h2 id="${anchorOf(name)}">${name}</h2>
<p>${description}</p>
<ul class="rows">
${this.#ofTag(name).map(
  ({
    id,
    summary,
    method,
    path,
  }) => html`<li><a href="api/${id}">${summary}</a><code>${method} ${path}</code></li>
`,
)}</ul>
</section>
`,
)}`
    return { title: 'Management API', content, crumbs: [] }
  }

  operation(id: string): DocsPage | null {
    const operation = this.#operations.get(id)
    if (operation === undefined) return null
    const { summary, method, path, description, body, good, refusals, tag, parameters } = operation
    const others = this.#ofTag(tag).filter(one => one !== operation)
    const content = html`<p class="call"><span class="method">${method}</span> <code>${path}</code></p>
${paragraphs(description)}
<dl>
<div><dt>Permission</dt><dd>${permissionOf(operation)}</dd></div>
<div><dt>Name for generated code</dt><dd><code>${id}</code></dd></div>
</dl>
${parameters.length > 0 && html`<section><h2>Parameters</h2>${this.#rows(parameters.map(one => this.#parameter(one)))}</section>`}
${
  body !== null &&
  html`<section><h2>Body</h2>
<p class="soft">${body.type}</p>
${this.#members(body.schema)}
${body.examples.map(
  ({ summary, value }) => html`<h3>${summary}</h3>
<pre><code>${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</code></pre>
`,
)}</section>`
}
<section><h2>With curl</h2>
<pre><code>${curlOf(operation)}</code></pre></section>
<section><h2>Response</h2>
${this.#response(good)}</section>
${
  refusals.length > 0 &&
  html`<section><h2>Errors</h2>
<dl>
${refusals.map(
  one => html`<div><dt>${one.status}</dt><dd>${paragraphs(one.description)}${codesOf(one)}</dd></div>
`,
)}</dl></section>`
}
${
  others.length > 0 &&
  html`<nav aria-label="${tag}"><h2>More about ${tag}</h2>
<ul class="links">${others.map(one => html`<li><a href="${one.id}">${one.summary}</a></li>`)}</ul></nav>`
}`
    const crumbs = [
      ['../api', 'Management API'],
      [`../api#${anchorOf(tag)}`, tag],
    ] as const
    return { title: summary, content, crumbs }
  }

  #ofTag(tag: string): readonly Operation[] {
    return [...this.#operations.values()].filter(one => one.tag === tag)
  }

  #parameter({ name, in: place, required = false, description = '', schema }: Parameter) {
    const row = schemaRow(name, required, schema, this.#document.components.schemas)
    return { ...row, description: description || row.description, place: places[place] }
  }

  #members(schema: Schema, without: readonly string[] = []): Html {
    const { schemas } = this.#document.components
    const whole = schemaRow('', true, schema, schemas)
    const rows = schemaRows(schema, schemas, without)
    if (rows.length === 0) return html`<p>${withCode(sentencesOf({ ...whole, type: whole.type }))}</p>`
    const rules = sentencesOf({ ...whole, type: '' })
    return html`${rules !== '' && html`<p>${withCode(rules)}</p>`}${this.#rows(rows)}`
  }

  #rows(rows: readonly (SchemaRow & { readonly place?: string })[]): Html {
    return html`<dl>
${rows.map(
  row => html`<div><dt><code>${row.name}</code>${row.isRequired && html` <span class="pill">required</span>`}</dt><dd><p class="soft">${row.type}${row.place !== undefined && `, ${row.place}`}</p>${sentencesOf({ ...row, type: '' }) !== '' && html`<p>${withCode(sentencesOf({ ...row, type: '' }))}</p>`}${valuesOf(row)}</dd></div>
`,
)}</dl>`
  }

  #response({ content, headers }: Response): Html {
    const contents = content.map(
      ({ type, schema }) => html`<p class="soft">${type}</p>
${isEnveloped(schema) && html`<p>In the envelope, with <code>success</code>, <code>errors</code> and <code>messages</code>:</p>`}${this.#members(schema, isEnveloped(schema) ? envelope : [])}
`,
    )
    const fields = html`<h3>Header fields</h3>
<dl>
${headers.map(
  ({ name, description }) => html`<div><dt><code>${name}</code></dt><dd>${paragraphs(description)}</dd></div>
`,
)}</dl>`
    return html`${contents}${headers.length > 0 && fields}`
  }
}

const places = { path: 'in the path', query: 'in the query', header: 'header field' }

const envelope = ['success', 'errors', 'messages'] as const

function isEnveloped({ properties }: Schema): boolean {
  return envelope.every(name => Object.hasOwn(properties ?? {}, name))
}

function permissionOf({ permission, token }: Operation): HtmlValue {
  if (permission !== null) return html`<code>${permission}</code>`
  if (token === 'no') return 'None: it asks for no token.'
  return token === 'maybe' ? 'A token is required where the configuration says so.' : 'Any token; see above.'
}

function codesOf({ content }: Response): HtmlValue {
  const codes = content.flatMap(({ schema }) => codesIn(schema))
  if (codes.length === 0) return null
  return html`<p class="soft values">Code ${codes.map(code => html`<code>${code}</code>`)}</p>`
}

function codesIn({ properties }: Schema): readonly number[] {
  const { errors } = (properties ?? {}) as Readonly<Record<string, { items?: Schema }>>
  const { code } = (errors?.items?.properties ?? {}) as Readonly<Record<string, { enum: readonly number[] }>>
  return code?.enum ?? []
}

const maxValues = 12

function valuesOf({ values }: SchemaRow): HtmlValue {
  if (values.length === 0) return null
  const list = values.map(value => html`<code>${value}</code> `)
  if (values.length <= maxValues) return html`<p class="values">${list}</p>`
  return html`<details><summary>${values.length} values</summary><p class="values">${list}</p></details>`
}

function sentencesOf({
  type,
  description,
  rules,
}: Pick<SchemaRow, 'type' | 'description' | 'rules'>): string {
  const rule = rules.join('; ')
  return [type, description, rule]
    .filter(one => one !== '')
    .map(one => `${one.charAt(0).toUpperCase()}${one.slice(1)}${/[.!?]$/.test(one) ? '' : '.'}`)
    .join(' ')
}

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-')
}
