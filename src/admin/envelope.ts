// The envelope of the management API: what every JSON answer of the admin listener is wrapped in.

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One mistake; `pointer` names the member of the request that it is about (RFC 6901). */
export interface Mistake {
  readonly code: number
  readonly message: string
  readonly pointer?: string
}

export function success(result: unknown, status = 200): Answer {
  return envelope(status, { success: true, errors: [], messages: [], result })
}

/** Wraps all mistakes of a request; `headers` are added, as `Allow` to a 405. */
export function failure(
  status: number,
  mistakes: readonly Mistake[],
  headers: Answer['headers'] = {},
): Answer {
  const errors = mistakes.map(({ code, message, pointer }) => ({
    code,
    message,
    ...(pointer !== undefined && { source: { pointer } }),
  }))
  return envelope(status, { success: false, errors, messages: [], result: null }, headers)
}

function envelope(status: number, content: object, headers: Answer['headers'] = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(content),
  }
}
