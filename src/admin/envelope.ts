// The envelope of the management API: what every JSON answer of it is wrapped in.

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One mistake of a caller; a `Fault` is one. */
export interface Mistake {
  /** 4 or 5 digits. */
  readonly code: number
  readonly message: string
  /** The member of the body that it is about (RFC 6901). */
  readonly pointer?: string | null
}

/** What part of a list an answer shows. */
export interface Window {
  readonly page: number
  readonly perPage: number
  /** How many there are in all. */
  readonly total: number
}

/** Wraps a result; `headers` are added, as `ETag`. */
export function success(result: unknown, headers: Answer['headers'] = {}): Answer {
  return wrap(200, { success: true, errors: [], messages: [], result }, headers)
}

/** Wraps a part of a list; `headers` are added, as `ETag`. */
export function list(
  result: readonly unknown[],
  { page, perPage, total }: Window,
  headers: Answer['headers'] = {},
): Answer {
  const result_info = { page, per_page: perPage, count: result.length, total_count: total }
  return wrap(200, { success: true, errors: [], messages: [], result, result_info }, headers)
}

/** Wraps all mistakes of a request; `headers` are added, as `Allow` to a 405. */
export function failure(
  status: number,
  mistakes: readonly Mistake[],
  headers: Answer['headers'] = {},
): Answer {
  const errors = mistakes.map(({ code, message, pointer = null }) =>
    pointer === null ? { code, message } : { code, message, source: { pointer } },
  )
  return wrap(status, { success: false, errors, messages: [], result: null }, headers)
}

/** Says that what the path names does not exist. */
export function notFound(message: string): Answer {
  return failure(404, [{ code: 7003, message }])
}

function wrap(status: number, content: object, headers: Answer['headers'] = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(content),
  }
}
