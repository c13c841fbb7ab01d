// Composes a response from custom content: body, type and optionally the status are the operator's, every
// other field is that of the error.

import type { Facts } from '../../expression/expression.ts'
import { errorRows } from '../catalogue/catalogue.ts'
import type { ErrorResponse } from '../audience/audience.ts'
import type { CustomContent } from './custom-content.ts'
import { headersOf, phraseOf, reasonOf } from '../audience/response-head.ts'
import type { Occasion } from '../catalogue/problem.ts'
import type { Refusal } from '../catalogue/refusal.ts'

/** Composes the response; it has no Content-Security-Policy, since ours allows only our own page. */
export function composeCustom(
  content: CustomContent,
  refusal: Refusal,
  occasion: Occasion,
  facts: Facts,
): ErrorResponse {
  const usual = errorRows[refusal.error].status
  const status = content.status ?? usual
  const body = content.fill(refusal, occasion, facts)
  return {
    status,
    reason: status === usual ? reasonOf(refusal) : phraseOf(status),
    headers: headersOf(refusal, occasion, { type: content.type, policy: null, body }),
    body,
  }
}
