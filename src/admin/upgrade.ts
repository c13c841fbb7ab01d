// Where an operator's command asks the gateway to replace itself.

import { type ApiResponse, failure } from './envelope.ts'
import type { ApiRequest } from './router.ts'

/** Resolves with the reason why there was no upgrade, with `done` where there was one, and with null for who shows no proof. */
export type Upgrade = (authorization: string | null) => Promise<{ readonly reason: string } | 'done' | null>

/** Responds once the new gateway serves, or has failed; to a request without proof as if there were nothing here. */
export async function upgrade({ requester }: ApiRequest, upgrade?: Upgrade): Promise<ApiResponse> {
  const outcome = (await upgrade?.(requester.authorization)) ?? null
  if (outcome === null) return failure('no_route', '/upgrade')
  return {
    status: outcome === 'done' ? 200 : 409,
    headers: { 'content-type': 'application/json' },
    body: `${JSON.stringify(outcome === 'done' ? {} : outcome)}\n`,
  }
}
