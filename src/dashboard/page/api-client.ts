// The management API as the handlers of pages ask it: with the permissions of the person whose browser sent the request, in this process, without a socket.

import { pause } from '../../base/turns/turns.ts'

/** What a response of the API is made of, as far as pages need it. */
interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly rest?: readonly string[]
  readonly stream?: AsyncIterable<string>
}

/** Asks the management API as the person whose request is served. */
export type CallApi = (question: {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly target: string
  readonly body?: unknown
  /** That of a body which is text; JSON by default. */
  readonly contentType?: string | undefined
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
}) => Promise<ApiResponse>

/** Where a list goes on. */
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
  /** Of lists. */
  readonly info: ListInfo | null
  /** What to send with a change of what was read here. */
  readonly etag: string | null
}

/** What is wrong: a sentence for each member of the body that is (RFC 6901), and under `''` whatever is wrong besides. */
export type Faults = Readonly<Record<string, string>>

export interface Failure {
  readonly ok: false
  readonly status: number
  readonly faults: Faults
  /** Seconds until it is of use to try again. */
  readonly retryAfter: number | null
}

/** Whether the API cannot tell for now, such as while the store is unreachable. */
export function isOutage({ status }: Pick<Failure, 'status'>): boolean {
  return status >= 500
}

/** What the API has for programs to keep. */
interface File {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly stream: AsyncIterable<string> | undefined
}

type Result<T> = Success<T> | Failure

/** What a change may depend on. */
interface Conditions {
  /** It is made only if that is still the tag of what is changed; else the status is 412. */
  readonly ifMatch?: string | undefined
  /** It is made only if nothing is there with such a tag, or nothing at all with `*`; else the status is 412. */
  readonly ifNoneMatch?: string | undefined
  /** It is made once under this key, and its result is the same whenever it is sent again. */
  readonly idempotencyKey?: string | undefined
}

type Query = Readonly<Record<string, string | number | null | undefined>>

/** Paths are those of the document of the API, below `/client/v4`. */
export class Api {
  readonly #ask: CallApi

  constructor(ask: CallApi) {
    this.#ask = ask
  }

  /** Reads one thing, or a list with its `info`; what is null or empty in the query is left out. */
  get<T>(path: string, query: Query = {}): Promise<Result<T>> {
    return this.#send('GET', targetOf(path, query))
  }

  /** Reads what was stored as it came, without an envelope: bodies of calls. */
  async text(path: string): Promise<Result<string>> {
    const response = await this.#ask({ method: 'GET', target: targetOf(path) })
    if (response.status >= 300) return read(response)
    return { ok: true, result: bodyOf(response), info: null, etag: null }
  }

  /** Reads a file, as it is read from the store. */
  async file(path: string, query: Query = {}): Promise<Result<File>> {
    return fileIn(await this.#ask({ method: 'GET', target: targetOf(path, query) }))
  }

  /** Reads a page of the documentation, which is below `/docs`. */
  async docs(path: string): Promise<Result<File>> {
    return fileIn(await this.#ask({ method: 'GET', target: `/docs${path}` }))
  }

  post<T>(path: string, body?: unknown, conditions?: Conditions): Promise<Result<T>> {
    return this.#send('POST', targetOf(path), body, conditions)
  }

  put<T>(path: string, body?: unknown, conditions?: Conditions): Promise<Result<T>> {
    return this.#send('PUT', targetOf(path), body, conditions)
  }

  /** Sets what is stored as it comes, of a media type. */
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
    // To read it, and to make a page of it, is work for other turns.
    await pause()
    const result = read<T>(response)
    await pause()
    return result
  }
}

/** Joins steps of a path of the API, each encoded, so that no id of others leads elsewhere. */
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
  readonly result: unknown
  readonly result_info?: ListInfo
  readonly errors: readonly Mistake[]
}

interface Mistake {
  readonly message: string
  readonly source?: { readonly pointer: string }
}

function read<T>(response: ApiResponse): Result<T> {
  const { status, headers } = response
  const { success, result, result_info, errors }: Envelope = JSON.parse(bodyOf(response))
  if (success) return { ok: true, result: result as T, info: result_info ?? null, etag: headers.etag ?? null }
  const retryAfter = headers['retry-after']
  return {
    ok: false,
    status,
    faults: faultsOf(errors),
    retryAfter: retryAfter === undefined ? null : Number(retryAfter),
  }
}

function fileIn(response: ApiResponse): Result<File> {
  if (response.status >= 300) return read(response)
  const { headers, stream } = response
  return { ok: true, result: { headers, body: bodyOf(response), stream }, info: null, etag: null }
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

/** Takes away the name of the member at the beginning, as `redirect_uris[0]`, where the field beside it is its name; and ends the sentence. */
function withoutPlace(message: string, pointer: string): string {
  const place = pointer
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
  const rule = pointer !== '' && message.startsWith(`${place} `) ? message.slice(place.length + 1) : message
  const text = rule.replace(/^must be a string of /, 'must have ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
