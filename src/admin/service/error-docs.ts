// /errors and /errors/{code}: the cause of each error, and what to check.

import { documentError, documentIndex } from '../../errors/docs/document.ts'
import type { ErrorResponse } from '../../errors/audience/audience.ts'
import { type ApiResponse, failure } from '../http/envelope.ts'

export function documentationIndex(accept: string | null): ApiResponse {
  return adopt(documentIndex(accept))
}

export function documentation(code: string, accept: string | null): ApiResponse {
  const response = documentError(code, accept)
  return response ? adopt(response) : failure('no_error', code.slice(0, 20))
}

function adopt({ status, headers, body }: ErrorResponse): ApiResponse {
  const record: Record<string, string> = {}
  for (let i = 0; i < headers.length; i += 2) record[headers[i]!.toLowerCase()] = headers[i + 1]!
  return { status, headers: record, body }
}
