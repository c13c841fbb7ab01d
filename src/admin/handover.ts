// Where the next gateway on this machine asks this one for its side port.

import { type ApiResponse, failure } from './envelope.ts'
import type { ApiRequest } from './router.ts'

/** Leaves the side port; false where it stays, null for who shows no proof. */
export type HandOver = (authorization: string | null, replaces: boolean) => boolean | null

/** Responds to a request without proof as if there were nothing here. */
export function handover({ requester, query }: ApiRequest, handOver?: HandOver): ApiResponse {
  const hasLeft = handOver?.(requester.authorization, query.has('replace')) ?? null
  if (hasLeft === null) return failure('no_route', '/handover')
  if (!hasLeft) return failure('not_stopping')
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}\n' }
}
