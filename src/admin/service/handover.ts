// Where the next gateway on this machine asks this one for its side port.

import { type ApiResponse, failure } from '../http/envelope.ts'
import type { ApiRequest } from '../http/router.ts'

/** How the next gateway asks for the side port. */
interface Request {
  /** Whether it replaces this one even if this one is not stopping. */
  readonly replaces: boolean
  /** Whether it can listen beside this one for a moment. */
  readonly shares: boolean
}

/** Leaves or shares the side port; resolves with false where it stays, null for who shows no proof. */
export type HandOver = (authorization: string | null, options: Request) => Promise<boolean | null>

/** Responds to a request without proof as if there were nothing here. */
export async function handover({ requester, query }: ApiRequest, handOver?: HandOver): Promise<ApiResponse> {
  const options = { replaces: query.has('replace'), shares: query.has('share') }
  const isFree = (await handOver?.(requester.authorization, options)) ?? null
  if (isFree === null) return failure('no_route', '/handover')
  if (!isFree) return failure('not_stopping')
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}\n' }
}
