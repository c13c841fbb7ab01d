// Finds the row of the table for a request, or responds with 404 or 405 in the envelope.

import type { Token } from '../../store/records/records.ts'
import type { LastToken } from '../../tokens/verify.ts'
import { type ApiResponse, failure, withHeaders } from './envelope.ts'
import type { Sender } from './caller-address.ts'

export interface Requester extends Sender {
  readonly accept: string | null
  /** Null when absent; empty when there are several, since it is unclear which counts. */
  readonly authorization: string | null
  readonly contentType: string | null
  readonly ifMatch: string | null
  readonly ifNoneMatch: string | null
  readonly idempotencyKey: string | null
  readonly shown?: LastToken
  /** The authenticated caller of an in-process request: no HTTP request can set it. */
  readonly caller?: Token
  /** Reads the body to its end; null when it has more than so many bytes. */
  readonly readBody: (maxBytes: number) => Promise<Buffer | null>
}

export interface ApiRequest {
  /** The decoded values of the `{name}` segments of the row's path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly requester: Requester
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Route<Facts> {
  readonly method: Method
  readonly path: string
  readonly handle: (request: ApiRequest, facts: Facts) => ApiResponse | Promise<ApiResponse>
}

interface Row<Facts> {
  readonly route: Route<Facts>
  readonly segments: readonly string[]
}

export class Router<Facts> {
  /** By number of segments: no request is compared with longer or shorter rows. */
  readonly #rows = new Map<number, Row<Facts>[]>()

  readonly #unsupportedAt: (path: string) => string | null

  /** `unsupportedAt` names what a path without a row is for. */
  constructor(routes: readonly Route<Facts>[], unsupportedAt: (path: string) => string | null = () => null) {
    this.#unsupportedAt = unsupportedAt
    for (const route of routes) {
      const segments = route.path.split('/')
      const alike = this.#rows.get(segments.length)
      if (alike === undefined) this.#rows.set(segments.length, [{ route, segments }])
      else alike.push({ route, segments })
    }
  }

  /** HEAD is handled as GET; the server drops its body. */
  async respond(method: string, target: string, requester: Requester, facts: Facts): Promise<ApiResponse> {
    const [path, query] = splitTarget(target)
    const segments = path.split('/')
    const alike = this.#rows.get(segments.length) ?? []
    const handled = method === 'HEAD' ? 'GET' : method
    const row = alike.find(row => row.route.method === handled && fits(row.segments, segments))
    if (row === undefined) {
      const others = alike.filter(row => fits(row.segments, segments))
      if (others.length > 0) return notAllowed(others.map(({ route }) => route.method))
      const thing = this.#unsupportedAt(path)
      return thing === null ? failure('no_route', path.slice(0, 200)) : failure('not_supported', thing)
    }
    const params = paramsOf(row.segments, segments)
    if (params === null) return failure('bad_path_encoding')
    return row.route.handle(
      { params, query: query === '' ? noQuery : new URLSearchParams(query), requester },
      facts,
    )
  }
}

/** Queries are never written to, so that all requests without one can share it. */
const noQuery = new URLSearchParams()

function fits(row: readonly string[], path: readonly string[]): boolean {
  for (let at = row.length - 1; at > 0; at--) {
    const isFit = isParam(row[at]!) ? path[at] !== '' : row[at] === path[at]
    if (!isFit) return false
  }
  return path[0] === ''
}

function isParam(segment: string): boolean {
  return segment.charCodeAt(0) === 0x7b
}

function splitTarget(target: string): [path: string, query: string] {
  const end = target.indexOf('?')
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end + 1)]
}

function notAllowed(methods: readonly string[]): ApiResponse {
  const allow = [...new Set(methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].join(
    ', ',
  )
  return withHeaders(failure('method_not_allowed', allow), { allow })
}

function decoded(segment: string): string {
  return segment.includes('%') ? decodeURIComponent(segment) : segment
}

function paramsOf(row: readonly string[], path: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {}
  try {
    for (let at = 1; at < row.length; at++)
      if (isParam(row[at]!)) params[row[at]!.slice(1, -1)] = decoded(path[at]!)
    return params
  } catch {
    return null
  }
}
