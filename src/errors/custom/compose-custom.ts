// Composes a response from custom content: body, type and optionally the status are the operator's, every
// other field is that of the error.

import type { Facts } from '../../expression/expression.ts'
import type { ErrorResponse } from '../audience/audience.ts'
import type { CustomContent } from './custom-content.ts'
import { responseWith } from '../audience/people.ts'
import type { Occasion } from '../catalogue/problem.ts'
import type { Refusal } from '../catalogue/refusal.ts'

/** Composes the response; it has no Content-Security-Policy, since ours allows only our own page. */
export function composeCustom(
  content: CustomContent,
  refusal: Refusal,
  occasion: Occasion,
  facts: Facts,
): ErrorResponse {
  const body = content.fill(refusal, occasion, facts)
  const { type, status } = content
  return responseWith({ type, policy: null, body }, refusal, occasion, status ?? undefined)
}
