// The attempts of a call, in order, for its caller, its log entry and its traces.

/** Sent between processes as data. */
export interface LedgerAttempt {
  readonly provider: string
  readonly model: string | null
  /**
   * `ok`, `http_` with the status of the provider, the name of the error record if it did not respond,
   * `stream_error` for a stream that began with an error, or `client_left`.
   */
  readonly outcome: string
  /** Ms until its first content, or until it failed. */
  readonly duration: number
}

/** A structured field: a list (RFC 9651 section 3.1). */
export function writeLedger(attempts: readonly LedgerAttempt[]): string {
  let text = ''
  for (const { provider, model, outcome, duration } of attempts) {
    if (text !== '') text += ', '
    text += `${provider}${model === null ? '' : `;model=${quoted(model)}`};outcome=${outcome};ms=${Math.round(duration)}`
  }
  return text
}

/** Section 3.3.3: visible ASCII and spaces alone; others become `?`. */
function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : `"${text.replace(/["\\]/g, '\\$&').replace(/[^ -~]/g, '?')}"`
}

const plain = /^[ !#-[\]-~]*$/
