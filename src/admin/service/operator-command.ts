// Where commands on this machine ask the gateway to reload its configuration, or to be replaced.

import { type ApiResponse, failure } from '../http/envelope.ts'
import type { ApiRequest } from '../http/router.ts'

/** Resolves with the reason why it was not done, a report if it was, or null for a caller without proof. */
export type OperatorCommand = (
  authorization: string | null,
) => Promise<{ readonly reason: string } | { readonly report: object } | null>

/** Responds to a request without proof as if there were nothing here. */
export async function obey(
  { requester }: ApiRequest,
  path: string,
  command?: OperatorCommand,
): Promise<ApiResponse> {
  const outcome = (await command?.(requester.authorization)) ?? null
  if (outcome === null) return failure('no_route', path)
  const isDone = 'report' in outcome
  return {
    status: isDone ? 200 : 409,
    headers: { 'content-type': 'application/json' },
    body: `${JSON.stringify(isDone ? { done: true, ...outcome.report } : outcome)}\n`,
  }
}
