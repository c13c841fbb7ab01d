// Where the next gateway on this machine requests the side port of this one.

import { type ApiResponse, failure } from '../http/envelope.ts'
import type { ApiRequest } from '../http/router.ts'

interface Request {
  /** Whether it replaces this one even if this one is not stopping. */
  readonly replaces: boolean
  /** Whether it can listen beside this one for a moment. */
  readonly shares: boolean
}

/** Leaves or shares the side port; resolves with false if it stays, null for a caller without proof. */
export type HandOver = (authorization: string | null, options: Request) => Promise<boolean | null>

/** Responds to a request without proof as if there were nothing here. */
export async function handover({ requester, query }: ApiRequest, handOver?: HandOver): Promise<ApiResponse> {
  const options = { replaces: query.has('replace'), shares: query.has('share') }
  const isFree = (await handOver?.(requester.authorization, options)) ?? null
  if (isFree === null) return failure('no_route', '/handover')
  if (!isFree) return failure('not_stopping')
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}\n' }
}
