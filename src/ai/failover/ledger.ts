// The attempts of a call, in order, for its caller, its log entry and its traces.

import type { LedgerAttempt } from '../../store/records/records.ts'

/** A structured field: a list (RFC 9651 section 3.1). */
export function writeLedger(attempts: readonly LedgerAttempt[]): string {
  let text = ''
  for (const attempt of attempts) {
    if (text !== '') text += ', '
    text += `${writeStart(attempt)}${Math.round(attempt.duration)}`
  }
  return text
}

/** Writes all of an attempt but the number of its milliseconds, which follows. */
export function writeStart({ provider, model, outcome }: LedgerAttempt): string {
  return `${provider}${model === null ? '' : `;model=${quoted(model)}`};outcome=${outcome};ms=`
}

/** Section 3.3.3: visible ASCII and spaces alone; others become `?`. */
function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : `"${text.replace(/["\\]/g, '\\$&').replace(/[^ -~]/g, '?')}"`
}

const plain = /^[ !#-[\]-~]*$/
