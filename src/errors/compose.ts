// Refusal in, answer out: the only door of this folder for whoever answers a request. The edge and `gatehouse errors` knock.

import { STATUS_CODES } from 'node:http'
import { escapeHtml } from '../base/html.ts'
import { type ErrorName, errorRows } from './catalogue.ts'
import { type Format, negotiate } from './negotiate.ts'
import { type Occasion, type Problem, timestampOf } from './problem.ts'
import { type Refusal, refuse, retryAfterOf } from './refusal.ts'
import { renderEvent } from './render-event.ts'
import { renderHtml } from './render-html.ts'
import { asciiJson, renderJson } from './render-json.ts'
import { renderMarkdown } from './render-markdown.ts'
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

/** Composes the answer to a request that was refused, in the format that it accepts. */
export function compose(refusal: Refusal, occasion: Occasion, options: Options): Answer {
  const content = standard(refusal, occasion, options)
  const { status } = errorRows[refusal.error]
  return {
    status,
    reason: reasonOf(refusal.error),
    headers: headersOf(refusal, occasion, content),
    body: content.body,
  }
}

/** Composes the last event of a stream that cannot go on. */
export function composeEvent(refusal: Refusal, occasion: Occasion, options: Options): string {
  return render('event', refusal, occasion, options)
}

/** What fills an answer: media type, body, and headers of its own. */
interface Content {
  readonly type: string
  readonly body: string
  readonly policy: string | null
}

interface Form {
  readonly type: string
  readonly policy: string | null
  readonly render: (problem: Problem) => string
  readonly escape: (text: string) => string
}

const escapeQuoted = (text: string): string => asciiJson(text).slice(1, -1)

const json: Form = {
  type: 'application/json; charset=utf-8',
  policy: null,
  render: renderJson,
  escape: escapeQuoted,
}

const forms: Readonly<Record<Format | 'event', Form>> = {
  html: { type: 'text/html; charset=utf-8', policy: null, render: renderHtml, escape: escapeHtml },
  json,
  problem: { ...json, type: 'application/problem+json; charset=utf-8' },
  markdown: {
    type: 'text/markdown; charset=utf-8',
    policy: null,
    render: renderMarkdown,
    escape: escapeQuoted,
  },
  event: { type: 'text/event-stream', policy: null, render: renderEvent, escape: escapeQuoted },
}

function standard(refusal: Refusal, occasion: Occasion, options: Options): Content {
  const format = negotiate(occasion.accept)
  const { type, policy } = forms[format]
  return { type, policy, body: render(format, refusal, occasion, options) }
}

function render(format: Format | 'event', refusal: Refusal, occasion: Occasion, options: Options): string {
  return templateOf(format, refusal.error, options.documentation).fill({
    ray: occasion.ray,
    zone: HOSTNAME.test(occasion.zone) ? occasion.zone : forms[format].escape(occasion.zone),
    timestamp: timestampAt(occasion.time),
    wait: String(retryAfterOf(refusal)),
  })
}

const HOSTNAME = /^[\w.-]*$/

const templates = new Map<string, Map<string, Template>>()

function templateOf(format: Format | 'event', error: ErrorName, documentation: string): Template {
  let known = templates.get(documentation)
  if (!known) templates.set(documentation, (known = new Map()))
  const key = `${format} ${error}`
  let template = known.get(key)
  if (!template) known.set(key, (template = new Template(refuse(error), documentation, forms[format].render)))
  return template
}

let second = Number.NaN
let timestamp = ''

function timestampAt(time: number): string {
  const now = Math.floor(time / 1000)
  if (now !== second) {
    second = now
    timestamp = timestampOf(time)
  }
  return timestamp
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
    'X-Content-Type-Options',
    'nosniff',
    'X-Frame-Options',
    'SAMEORIGIN',
    'Referrer-Policy',
    'same-origin',
    'svc-ray',
    occasion.ray,
  ]
  const retryAfter = retryAfterOf(refusal)
  if (retryAfter !== null) headers.push('Retry-After', String(retryAfter))
  if (refusal.allow !== null) headers.push('Allow', refusal.allow)
  if (content.policy !== null) headers.push('Content-Security-Policy', content.policy)
  return headers
}

function reasonOf(error: ErrorName): string {
  const { status, title } = errorRows[error]
  return status >= 520 ? title : STATUS_CODES[status]!
}
