// /errors and /errors/{code}: where the `type` of an error record leads to, unless the operator documents errors elsewhere.

import { documentError, documentIndex } from '../errors/docs/document.ts'
import type { Answer as ErrorAnswer } from '../errors/compose.ts'
import { type Answer, failure } from './envelope.ts'

export function documentationIndex(accept: string | null): Answer {
  return adopt(documentIndex(accept))
}

export function documentation(code: string, accept: string | null): Answer {
  const answer = documentError(code, accept)
  return answer ? adopt(answer) : failure('no_error', code.slice(0, 20))
}

/** Folds the list of header names and values into a record with lower-case names, as this listener keeps them. */
function adopt({ status, headers, body }: ErrorAnswer): Answer {
  const record: Record<string, string> = {}
  for (let i = 0; i < headers.length; i += 2) record[headers[i]!.toLowerCase()] = headers[i + 1]!
  return { status, headers: record, body }
}
