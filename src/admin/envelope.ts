// The envelope of the management API, as far as this listener fails: what every JSON answer of it is wrapped in.

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Mistake {
  readonly code: number
  readonly message: string
}

/** Wraps all mistakes of a request; `headers` are added, as `Allow` to a 405. */
export function failure(status: number, errors: readonly Mistake[], headers: Answer['headers'] = {}): Answer {
  const body = JSON.stringify({ success: false, errors, messages: [], result: null })
  return { status, headers: { 'content-type': 'application/json', ...headers }, body }
}
