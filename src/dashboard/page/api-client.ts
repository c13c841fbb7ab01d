// The management API for handlers of pages: with the permissions of the person whose browser sent the
// request, in this process, without a socket.

import { pause } from '../../base/turns/turns.ts'

interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly rest?: readonly string[]
  readonly stream?: AsyncIterable<string>
}

export type CallApi = (question: {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly target: string
  readonly body?: unknown
  /** For a text body; JSON by default. */
  readonly contentType?: string | undefined
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
}) => Promise<ApiResponse>

export interface ListInfo {
  readonly page: number
  readonly per_page: number
  readonly count: number
  readonly total_count: number
  readonly cursor?: string
}

interface Success<T> {
  readonly ok: true
  readonly result: T
  readonly info: ListInfo | null
  readonly etag: string | null
}

/** Faults: a sentence for each faulty member of the body (RFC 6901), and under `''` any others. */
export type Faults = Readonly<Record<string, string>>

export interface Failure {
  readonly ok: false
  readonly status: number
  readonly faults: Faults
  /** Seconds until a retry is useful. */
  readonly retryAfter: number | null
}

/** Whether the API has no result for now, such as while the store is unreachable. */
export function isOutage({ status }: Pick<Failure, 'status'>): boolean {
  return status >= 500
}

interface File {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly stream: AsyncIterable<string> | undefined
}

type Result<T> = Success<T> | Failure

/** Thrown by reads that fail: admission makes a page of the failure. */
export class Refusal extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(`the management API responded with ${failure.status}`)
    this.failure = failure
  }
}

interface Conditions {
  /** The change requires that this is still the current tag; else the status is 412. */
  readonly ifMatch?: string | undefined
  /**
   * The change requires that no resource with such a tag exists, or none at all with `*`; else the status is
   * 412.
   */
  readonly ifNoneMatch?: string | undefined
  /** The change is made once under this key, and repetitions get the same result. */
  readonly idempotencyKey?: string | undefined
}

type Query = Readonly<Record<string, string | number | null | undefined>>

/** Refuses what does not exist, or belongs to another account. */
export function missing(): never {
  throw new Refusal({ ok: false, status: 404, faults: {}, retryAfter: null })
}

/** Paths are those of the document of the API, below `/client/v4`. */
export class Api {
  readonly #ask: CallApi

  constructor(ask: CallApi) {
    this.#ask = ask
  }

  /**
   * Reads one thing, or a list with its `info`, or throws a `Refusal`. Null and empty values in the query are
   * left out.
   */
  async get<T>(path: string, query?: Query): Promise<Success<T>> {
    return orThrow(await this.tryGet<T>(path, query))
  }

  /** Like `get`, for pages that do something else after a failure. */
  tryGet<T>(path: string, query?: Query): Promise<Result<T>> {
    return this.#send('GET', targetOf(path, query))
  }

  /** Reads stored content without an envelope: bodies of calls. */
  async text(path: string): Promise<string> {
    return (await this.file(path)).body
  }

  file(path: string, query?: Query): Promise<File> {
    return this.#file(targetOf(path, query))
  }

  /** Reads a page of the documentation, which is below `/docs`. */
  docs(path: string): Promise<File> {
    return this.#file(`/docs${path}`)
  }

  async #file(target: string): Promise<File> {
    const response = await this.#ask({ method: 'GET', target })
    const { status, headers, stream } = response
    if (status >= 300) orThrow(read(response))
    return { headers, body: bodyOf(response), stream }
  }

  post<T>(path: string, body?: unknown, conditions?: Conditions): Promise<Result<T>> {
    return this.#send('POST', targetOf(path), body, conditions)
  }

  put<T>(path: string, body?: unknown, conditions?: Conditions): Promise<Result<T>> {
    return this.#send('PUT', targetOf(path), body, conditions)
  }

  /** Stores content of a media type without an envelope. */
  async putText<T>(
    path: string,
    text: string,
    contentType: string,
    conditions: Conditions = {},
  ): Promise<Result<T>> {
    const target = targetOf(path)
    return read<T>(await this.#ask({ method: 'PUT', target, body: text, contentType, ...conditions }))
  }

  patch<T>(path: string, body: unknown, conditions?: Conditions): Promise<Result<T>> {
    return this.#send('PATCH', targetOf(path), body, conditions)
  }

  delete<T>(path: string, conditions?: Conditions): Promise<Result<T>> {
    return this.#send('DELETE', targetOf(path), undefined, conditions)
  }

  async #send<T>(
    method: Parameters<CallApi>[0]['method'],
    target: string,
    body?: unknown,
    conditions: Conditions = {},
  ): Promise<Result<T>> {
    const response = await this.#ask({ method, target, body, ...conditions })
    // Reading it, and making a page of it, are separate turns.
    await pause()
    const result = read<T>(response)
    await pause()
    return result
  }
}

/** Joins steps of a path of the API, each encoded, so that no foreign id leads elsewhere. */
export function apiPath(...steps: readonly string[]): string {
  return `/${steps.map(step => encodeURIComponent(step)).join('/')}`
}

function targetOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return `/client/v4${path}${search.size === 0 ? '' : `?${search}`}`
}

interface Envelope {
  readonly success: boolean
  readonly result?: unknown
  /** In lists that the published client reads from here. */
  readonly data?: unknown
  readonly result_info?: ListInfo
  readonly errors: readonly Mistake[]
}

interface Mistake {
  readonly message: string
  readonly source?: { readonly pointer: string }
}

function read<T>(response: ApiResponse): Result<T> {
  const { status, headers } = response
  const { success, data, result = data, result_info, errors }: Envelope = JSON.parse(bodyOf(response))
  if (success) return { ok: true, result: result as T, info: result_info ?? null, etag: headers.etag ?? null }
  const retryAfter = headers['retry-after']
  return {
    ok: false,
    status,
    faults: faultsOf(errors),
    retryAfter: retryAfter === undefined ? null : Number(retryAfter),
  }
}

function orThrow<T>(result: Result<T>): Success<T> {
  if (!result.ok) throw new Refusal(result)
  return result
}

function bodyOf({ body, rest = [] }: ApiResponse): string {
  return body + rest.join('')
}

function faultsOf(mistakes: readonly Mistake[]): Faults {
  const faults: Record<string, string> = {}
  for (const { message, source: { pointer } = { pointer: '' } } of mistakes) {
    const sentence = withoutPlace(message, pointer)
    faults[pointer] = faults[pointer] === undefined ? sentence : `${faults[pointer]} ${sentence}`
  }
  return faults
}

/**
 * Removes the leading name of the member, as `redirect_uris[0]`, if the field beside it shows it; and ends
 * the sentence.
 */
function withoutPlace(message: string, pointer: string): string {
  const place = pointer
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
  const rule = pointer !== '' && message.startsWith(`${place} `) ? message.slice(place.length + 1) : message
  const text = rule.replace(/^must be a string of /, 'must have ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
