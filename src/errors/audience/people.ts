// Errors for the general audience: browsers, programs and agents, each in the format that it accepts.

import { escapeHtml } from '../../base/text/html.ts'
import type { Operator } from '../../config/model/custom-errors-config.ts'
import { errorRows } from '../catalogue/catalogue.ts'
import { type Form, form, render } from '../render/render.ts'
import { type Audience, type ErrorResponse, type Options, written } from './audience.ts'
import { type Content, headersOf, phraseOf, reasonOf } from './response-head.ts'
import { type Format, negotiate } from './negotiate.ts'
import type { Occasion } from '../catalogue/problem.ts'
import type { Refusal } from '../catalogue/refusal.ts'
import { renderEvent } from '../render/event.ts'
import { pagePolicy, policyWith, renderHtml } from '../render/html.ts'
import { renderJson } from '../render/json.ts'
import { renderMarkdown } from '../render/markdown.ts'
import { renderPlain } from '../render/plain.ts'
import type { Write } from '../render/template.ts'

/** Composes the response to a refused request, in the format that it accepts. */
export function compose(
  refusal: Refusal,
  occasion: Occasion,
  { documentation, operator }: Options,
): ErrorResponse {
  const format = negotiate(occasion.accept)
  const form = format === 'html' ? pageOf(operator) : forms[format]
  const { type, policy } = form
  return responseWith(
    { type, policy, body: render(form, refusal, occasion, documentation) },
    refusal,
    occasion,
  )
}

/** Every response to a person passes here, with our content or the operator's. */
export function responseWith(
  content: Content,
  refusal: Refusal,
  occasion: Occasion,
  status = errorRows[refusal.error].status,
): ErrorResponse {
  const isUsual = status === errorRows[refusal.error].status
  return {
    status,
    reason: isUsual ? reasonOf(refusal) : phraseOf(status),
    headers: headersOf(refusal, occasion, content),
    body: content.body,
  }
}

/** Composes the last event of a stream whose head has already been sent. */
export function composeEvent(
  refusal: Refusal,
  occasion: Occasion,
  { documentation }: Pick<Options, 'documentation'>,
): string {
  return render(event, refusal, occasion, documentation)
}

/** The forms of a response outside AI routes. */
export const forms: Readonly<Record<Format, Form>> = {
  html: form(
    'text/html; charset=utf-8',
    (problem, heading) => renderHtml(problem, null, heading),
    escapeHtml,
    pagePolicy,
  ),
  json: form('application/json; charset=utf-8', renderJson),
  problem: form('application/problem+json; charset=utf-8', renderJson),
  markdown: form('text/markdown; charset=utf-8', renderMarkdown),
  plain: form('text/plain; charset=utf-8', renderPlain),
}

/** Returns the form of the page that names this operator. */
export function pageOf(operator: Operator | null = null): Form {
  if (operator === null) return forms.html
  const cached = pages.get(operator)
  if (cached !== undefined) return cached
  const write: Write = (problem, heading) => renderHtml(problem, operator, heading)
  const page = form(forms.html.type, write, escapeHtml, policyWith(operator))
  pages.set(operator, page)
  return page
}

// A reload creates new operator objects, and the pages of the old ones are released with them.
const pages = new WeakMap<Operator, Form>()
const event = form('text/event-stream', renderEvent)

export const people: Audience = {
  kind: 'people',
  formatOf: negotiate,
  compose: (refusal, occasion, options) => written(compose(refusal, occasion, options)),
  composeEvent,
  composeTrailers: () => null,
}
