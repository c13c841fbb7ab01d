// The Idempotency-Key of an AI call, if its gateway makes calls with one once.

import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { AiExchange } from './ai-exchange.ts'
import { repeated } from './request-fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'

/** Refuses a key that does not read, and one without a token, as others could guess it (400). */
export function readIdempotencyKey({ method }: Pick<RequestHead, 'method'>, ai: AiExchange): Refusal | null {
  const { idempotencyKey } = ai.fields
  if (idempotencyKey === null || ai.gateway!.hasIdempotencyKeys !== true) return null
  // Nothing else is paid for by the call.
  if (method !== 'POST' || isFree(ai)) return null
  if (idempotencyKey === repeated || !printable.test(idempotencyKey)) return unreadable
  if (ai.token === null) return withoutToken
  ai.idempotencyKey = idempotencyKey
  // The key alone says which response it is.
  ai.cacheControls = null
  return null
}

function isFree({ target }: AiExchange): boolean {
  return target.api !== 'native' && (target.operation === 'models' || target.operation === 'count_tokens')
}

const printable = /^[\x20-\x7e]{1,255}$/

const unreadable = refuseCall(
  'invalid',
  'Idempotency-Key',
  'must be given once, as 1 to 255 printable ASCII characters',
)
const withoutToken = refuseCall('invalid', 'Idempotency-Key', 'needs a token of this gateway')
