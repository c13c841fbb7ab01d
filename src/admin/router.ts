// Finds the row of the table that a request is for, or says 404 or 405 in the envelope. The admin server asks it.

import { type Answer, failure, notFound } from './envelope.ts'

/** What the handlers may know of a request beside its method and target. */
export interface Asker {
  readonly accept: string | null
  /** Null when absent; empty when there are several, of which nobody can tell which counts. */
  readonly authorization: string | null
  readonly contentType: string | null
  /** All If-Match fields as one list. */
  readonly ifMatch: string | null
  /** Null when absent; empty when there are several. */
  readonly idempotencyKey: string | null
  /** The client's: the peer of the socket. */
  readonly address: string
  /** The id of the request, which the answer shows in `svc-ray`. */
  readonly ray: string
  /** Reads the body to its end; null when it is too large. */
  readonly readBody: () => Promise<Buffer | null>
}

export interface Question {
  /** What the `{name}` segments of the row's path stood for, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly asker: Asker
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Route<Facts> {
  readonly method: Method
  readonly path: string
  readonly handle: (question: Question, facts: Facts) => Answer | Promise<Answer>
}

export class Router<Facts> {
  readonly #rows: readonly { route: Route<Facts>; pattern: RegExp }[]

  constructor(routes: readonly Route<Facts>[]) {
    this.#rows = routes.map(route => ({ route, pattern: patternOf(route.path) }))
  }

  /** Answers with the handler of the first row that fits; HEAD is answered as GET, its body is dropped by the server. */
  async answer(method: string, target: string, asker: Asker, facts: Facts): Promise<Answer> {
    const [path, query] = splitTarget(target)
    const rows = this.#rows.filter(({ pattern }) => pattern.test(path))
    if (rows.length === 0) return notFound(`No route for ${path.slice(0, 200)}`)
    const row = rows.find(({ route }) => route.method === (method === 'HEAD' ? 'GET' : method))
    if (!row) return notAllowed(rows.map(({ route }) => route.method))
    const params = decode(row.pattern.exec(path)?.groups ?? {})
    if (!params) return notFound('The path is not valid percent-encoding')
    return row.route.handle({ params, query: new URLSearchParams(query), asker }, facts)
  }
}

/** Turns `/errors/{code}` into an expression with a named group for each segment in braces. */
function patternOf(path: string): RegExp {
  const source = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  return new RegExp(`^${source}$`)
}

function splitTarget(target: string): [path: string, query: string] {
  const end = target.indexOf('?')
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end + 1)]
}

function notAllowed(methods: readonly string[]): Answer {
  const allow = [...new Set(methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].join(
    ', ',
  )
  return failure(405, [{ code: 7001, message: `Method not allowed; allowed: ${allow}` }], { allow })
}

function decode(groups: Readonly<Record<string, string>>): Record<string, string> | null {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    )
  } catch {
    return null
  }
}
