// The reason phrase and the header fields of a response to a refusal.

import { STATUS_CODES } from '../../net/http/node-http.ts'
import { errorRows, previews } from '../catalogue/catalogue.ts'
import type { Occasion } from '../catalogue/problem.ts'
import { type Refusal, retryAfterOf } from '../catalogue/refusal.ts'
import { safetyHeaders } from './safety-headers.ts'

/** What a response contains: its media type, its body in ASCII, and the policy if it is a page. */
export interface Content {
  readonly type: string
  readonly policy: string | null
  readonly body: string
}

/** Returns the reason phrase: the title of the error from 520 on, and the phrase of RFC 9110 below. */
export function reasonOf({ error }: Refusal): string {
  const { status, title } = errorRows[error]
  return status >= 520 ? title : reasons[status]!
}

/** Returns the phrase of an operator's status: our title, that of RFC 9110, or a generic one. */
export function phraseOf(status: number): string {
  return titles.get(status) ?? reasons[status] ?? 'Custom Error'
}

/** Lists name, value, name, value …; the caller may add to it. */
export function headersOf(refusal: Refusal, occasion: Occasion, content: Content): string[] {
  const headers = [
    'Content-Type',
    content.type,
    'Content-Length',
    String(content.body.length),
    'Cache-Control',
    'private, no-store',
    'Vary',
    'Accept',
    ...safetyHeaders,
    'svc-ray',
    occasion.ray,
  ]
  const retryAfter = retryAfterOf(refusal)
  if (retryAfter !== null) headers.push('Retry-After', String(retryAfter))
  const allow = allowOf(refusal)
  if (allow !== null) headers.push('Allow', allow)
  if (content.policy !== null) headers.push('Content-Security-Policy', content.policy)
  return headers
}

export function linesOf(headers: readonly string[]): string {
  let lines = ''
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`
  return lines
}

/** Returns the methods that a 405 must list (RFC 9110 section 15.5.6); null for any other status. */
function allowOf({ error, allow }: Refusal): string | null {
  return allow ?? (errorRows[error].status === 405 ? allowed : null)
}

/** The methods that the gateway passes on; only the origin knows which of them it supports. */
const allowed = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

// Node has the phrase of RFC 7231 for 413; RFC 9110 section 15.5.14 renamed it.
const reasons: typeof STATUS_CODES = { ...STATUS_CODES, 413: 'Content Too Large' }

const titles: ReadonlyMap<number, string> = new Map(
  Object.values(previews)
    .filter(({ code, status }) => code === status && status >= 520)
    .map(({ code, title }) => [code, title]),
)
