// The field lines that an origin gets, once a gate has changed those of a client.

import type { HeaderChanges } from '../../../src/edge/rewrite/headers.ts'
import { crossingLines, fieldId } from '../../../src/http1/fields/fields.ts'

/** `sent` are names and values in turns. */
export function linesAfter(changes: HeaderChanges, sent: readonly string[] = []): readonly string[] {
  const ids = sent.flatMap((name, i) => (i % 2 === 0 ? [fieldId(name)] : []))
  const lines = crossingLines(changes.applyTo({ kind: 'request', fields: sent, ids, hopByHop: null }))
  return lines.split('\r\n').slice(0, -1)
}
