// The catalogue as documentation: on every host the page of an error to which its type URI leads, and for
// operators on the side port the same with a list.

import type { ErrorResponse } from '../audience/audience.ts'
import { documentErrorPage, documentIndexPage, errorPolicy, indexPolicy } from './document-html.ts'
import { type Entry, entries, factsOf } from './entry.ts'
import { type Format, negotiate } from '../audience/negotiate.ts'
import { withoutEmphasis } from '../render/plain.ts'
import { safetyHeaders } from '../audience/safety-headers.ts'

/** Documents one error in the accepted format, beside the list of all; null for an unknown code. */
export function documentError(code: string, accept: string | null): ErrorResponse | null {
  return documentEntry(code, accept, true)
}

/** Documents one error by itself for clients, which may cache it; null for an unknown code. */
export function aboutError(code: string, accept: string | null): ErrorResponse | null {
  return documentEntry(code, accept, false)
}

function documentEntry(code: string, accept: string | null, isForOperators: boolean): ErrorResponse | null {
  const entry = entryByCode.get(code)
  if (!entry) return null
  const renderings = {
    json: () => entry,
    markdown: () => markdownOf(entry),
    plain: () => plainOf(entry),
    html: () => documentErrorPage(entry, isForOperators),
  }
  return answer(accept, errorPolicy, renderings, isForOperators ? 'no-cache' : forAnHour)
}

/** The pages change with the version of the gateway alone. */
const forAnHour = 'public, max-age=3600'

/** Documents all errors as a list. */
export function documentIndex(accept: string | null): ErrorResponse {
  return answer(accept, indexPolicy, {
    json: () => ({ errors: entries }),
    markdown: () => markdownIndex,
    plain: () => plainIndex,
    html: () => documentIndexPage(entries),
  })
}

const entryByCode: ReadonlyMap<string, Entry> = new Map(entries.map(entry => [String(entry.code), entry]))

function markdownOf(entry: Entry): string {
  return `# Error ${entry.code}: ${entry.title}

${factsOf(entry)
  .map(([label, fact]) => `- ${label}: ${fact}\n`)
  .join('')}
## ${entry.raised ? 'Cause' : 'Possible Cause'}

${entry.cause}

## What to Check

${entry.remedy}

## What the Client Sees

${entry.detail}

${entry.what_you_should_do}
`
}

function plainOf(entry: Entry): string {
  return `Error ${entry.code}: ${entry.title}

${factsOf(entry)
  .map(([label, fact]) => `${label}: ${fact}\n`)
  .join('')}
${entry.raised ? 'Cause' : 'Possible cause'}: ${entry.cause}

What to check: ${entry.remedy}

What the client sees: ${entry.detail} ${withoutEmphasis(entry.what_you_should_do)}
`
}

const plainIndex = entries.map(({ code, name, title }) => `${code} ${name}: ${title}\n`).join('')

const markdownIndex = `# Errors

| Code | Name | Title | HTTP status | Retry after | Raised |
|---|---|---|---|---|---|
${entries
  .map(
    ({ code, name, title, status, retry_after, raised }) =>
      `| ${code} | ${name} | ${title} | ${status} | ${retry_after === undefined ? '' : `${retry_after} s`} | ${raised ? 'yes' : 'preview only'} |\n`,
  )
  .join('')}`

interface Renderings {
  readonly json: () => unknown
  readonly markdown: () => string
  readonly plain: () => string
  readonly html: () => string
}

function answer(
  accept: string | null,
  policy: string,
  renderings: Renderings,
  caching = 'no-cache',
): ErrorResponse {
  const [type, body] = write(negotiate(accept), renderings)
  const headers = [
    'Content-Type',
    type,
    'Content-Length',
    String(body.length),
    'Cache-Control',
    caching,
    'Vary',
    'Accept',
    ...safetyHeaders,
    'Content-Security-Policy',
    policy,
  ]
  return { status: 200, reason: 'OK', headers, body }
}

function write(format: Format, renderings: Renderings): readonly [type: string, body: string] {
  switch (format) {
    case 'html':
      return ['text/html; charset=utf-8', renderings.html()]
    case 'markdown':
      return ['text/markdown; charset=utf-8', renderings.markdown()]
    case 'plain':
      return ['text/plain; charset=utf-8', renderings.plain()]
    default:
      return ['application/json; charset=utf-8', JSON.stringify(renderings.json())]
  }
}
