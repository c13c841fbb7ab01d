// Refusal in, answer out: the only door of this folder for whoever answers a request. The edge and `gatehouse errors` knock.

import { STATUS_CODES } from 'node:http'
import { escapeHtml } from '../base/html.ts'
import { type ErrorName, errorRows } from './catalogue.ts'
import { type Format, negotiate } from './negotiate.ts'
import type { Occasion, Problem } from './problem.ts'
import { type Refusal, refuse, retryAfterOf } from './refusal.ts'
import { renderEvent } from './render-event.ts'
import { PAGE_POLICY, renderHtml } from './render-html.ts'
import { asciiJson, renderJson } from './render-json.ts'
import { renderMarkdown } from './render-markdown.ts'
import { SAFETY_HEADERS } from './safety-headers.ts'
import { Template } from './template.ts'

export interface Answer {
  readonly status: number
  readonly reason: string
  /** Name, value, name, value …; with Content-Length, without Date and Connection. */
  readonly headers: readonly string[]
  /** ASCII alone, so that its length is its Content-Length. */
  readonly body: string
}

export interface Options {
  /** The base of the `type` URIs, without a slash at the end. */
  readonly documentation: string
}

/** What an answer holds: its media type, its body, and the policy where it is a page. */
interface Content {
  readonly type: string
  readonly policy: string | null
  readonly body: string
}

/** A way to write the record; the escaping makes any zone safe where the renderer puts it. */
interface Form {
  readonly type: string
  readonly policy: string | null
  readonly write: (problem: Problem) => string
  readonly escaping: (text: string) => string
  readonly templates: Map<string, Template>
}

/** Composes the answer to a request that was refused, in the format that it accepts. */
export function compose(refusal: Refusal, occasion: Occasion, options: Options): Answer {
  const content = standard(refusal, occasion, options)
  const { status, title } = errorRows[refusal.error]
  return {
    status,
    reason: status >= 520 ? title : reasons[status]!,
    headers: headersOf(refusal, occasion, content),
    body: content.body,
  }
}

/** Composes the last event of a stream whose head has already been sent. */
export function composeEvent(refusal: Refusal, occasion: Occasion, options: Options): string {
  return render(forms.event, refusal, occasion, options)
}

// Node has the phrase of RFC 7231 for 413; RFC 9110 section 15.5.14 renamed it.
const reasons: typeof STATUS_CODES = { ...STATUS_CODES, 413: 'Content Too Large' }

function standard(refusal: Refusal, occasion: Occasion, options: Options): Content {
  const form = forms[negotiate(occasion.accept)]
  return { type: form.type, policy: form.policy, body: render(form, refusal, occasion, options) }
}

function form(
  type: string,
  write: Form['write'],
  escaping: Form['escaping'],
  policy: string | null = null,
): Form {
  return { type, policy, write, escaping, templates: new Map() }
}

const forms: Readonly<Record<Format | 'event', Form>> = {
  html: form('text/html; charset=utf-8', renderHtml, escapeHtml, PAGE_POLICY),
  json: form('application/json; charset=utf-8', renderJson, escapeQuoted),
  problem: form('application/problem+json; charset=utf-8', renderJson, escapeQuoted),
  markdown: form('text/markdown; charset=utf-8', renderMarkdown, escapeQuoted),
  event: form('text/event-stream', renderEvent, escapeQuoted),
}

/** Escapes for a string in JSON, which a quoted scalar of YAML takes as well. */
function escapeQuoted(text: string): string {
  return asciiJson(text).slice(1, -1)
}

function render(form: Form, refusal: Refusal, occasion: Occasion, options: Options): string {
  const zone = PLAIN.test(occasion.zone) ? occasion.zone : form.escaping(occasion.zone)
  return templateOf(form, refusal.error, options.documentation).fill(refusal, occasion, zone)
}

const PLAIN = /^[\w.-]*$/

function templateOf(form: Form, error: ErrorName, documentation: string): Template {
  const key = `${error} ${documentation}`
  const known = form.templates.get(key)
  if (known) return known
  const template = new Template(refuse(error), documentation, form.write)
  form.templates.set(key, template)
  return template
}

function headersOf(refusal: Refusal, occasion: Occasion, content: Content): readonly string[] {
  const headers = [
    'Content-Type',
    content.type,
    'Content-Length',
    String(content.body.length),
    'Cache-Control',
    'private, no-store',
    'Vary',
    'Accept',
    ...SAFETY_HEADERS,
    'svc-ray',
    occasion.ray,
  ]
  const retryAfter = retryAfterOf(refusal)
  if (retryAfter !== null) headers.push('Retry-After', String(retryAfter))
  if (refusal.allow !== null) headers.push('Allow', refusal.allow)
  if (content.policy !== null) headers.push('Content-Security-Policy', content.policy)
  return headers
}
