// Lets pages of other sites call AI routes from the browser (Fetch standard, section 3.3): with a token that
// they send themselves, never with cookies.

import { memoizeEach } from '../../base/memo.ts'
import { firstValue } from '../../http1/fields/fields.ts'
import { withoutCors } from '../ai-call/response-fields.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Adds to the response what browsers look for; returns whether the request is a preflight. */
export function allowPages(x: Exchange, origins: readonly string[]): boolean {
  const cors = corsOf(origins)
  const { method, fields } = x.head
  const origin = firstValue(fields, 'origin')
  x.addedLines += cors.linesFor(origin)
  x.responseChanges = withoutCors
  if (method !== 'OPTIONS' || firstValue(fields, 'access-control-request-method') === null) return false
  x.addedLines += cors.preflightLines(origin, firstValue(fields, 'access-control-request-headers'))
  x.isOpening = true
  return true
}

const corsOf = memoizeEach((origins: readonly string[]) => new Cors(origins))

/** What responses say to the pages of some origins; with `*`, the same to all. */
export class Cors {
  readonly #origins: ReadonlySet<string>
  readonly #isForAll: boolean

  /** Origins as browsers send them, or `*` alone. */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
    this.#isForAll = this.#origins.has('*')
  }

  /** Returns field lines; `origin` is null if the request has none. */
  linesFor(origin: string | null): string {
    if (this.#isForAll) return `Access-Control-Allow-Origin: *\r\n${exposed}`
    const isAllowed = origin !== null && this.#origins.has(origin)
    return isAllowed ? `Access-Control-Allow-Origin: ${origin}\r\n${exposed}${varying}` : varying
  }

  /** Returns the lines of a response to a preflight that asks for header fields. */
  preflightLines(origin: string | null, fields: string | null): string {
    if (!this.#isForAll && !(origin !== null && this.#origins.has(origin))) return ''
    const allowed = fields === null ? '' : `Access-Control-Allow-Headers: ${fields}\r\n`
    return `Access-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE\r\n${allowed}Access-Control-Max-Age: ${maxAge}\r\n`
  }
}

/** Seconds; browsers keep it for two hours at most. */
const maxAge = 7200
const varying = 'Vary: Origin\r\n'
/** Some browsers do not know the star. */
const exposed =
  'Access-Control-Expose-Headers: *, svc-ray, svc-aig-log-id, svc-aig-step, svc-aig-provider, svc-aig-model, svc-aig-attempts, svc-aig-dropped, svc-aig-estimated, svc-aig-cache-status, Age, svc-aig-budget, Retry-After, RateLimit, RateLimit-Policy, x-should-retry\r\n'
