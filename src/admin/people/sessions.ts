// Handlers of a user's sessions.

import { Sessions, type Session } from '../../people/sessions/sessions.ts'
import { type AuditedAction, SelfAudit } from '../../people/records/self-audit.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { isoTime, pageOfAll } from '../records/record-handlers.ts'
import { Parameters } from '../http/query.ts'
import type { Api, UserCall } from '../api/api-types.ts'

export const sessionParameters = ['page', 'per_page'] as const

export async function listSessions({ actor, query }: UserCall, api: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  return pageOfAll(await sessionsOf(api).list(actor.user), page, viewSession)
}

export async function deleteSession(call: UserCall, api: Api): Promise<ApiResponse> {
  const id = call.params.session_id!
  if (!digest.test(id) || !(await sessionsOf(api).endOne(call.actor.user, id))) return noSession
  await write(call, api, { action: 'revoke', resource: { resourceKind: 'session', resource: id } })
  return success({ id })
}

/** Ends the tokens of apps too, that of this request included; consents are remembered. */
export async function deleteSessions(call: UserCall, api: Api): Promise<ApiResponse> {
  const { user } = call.actor
  const count = await sessionsOf(api).endEverything(user)
  await write(call, api, { action: 'sign_out', changed: ['sessions'] })
  return success({ id: user, sessions: count })
}

const noSession = failure('no_such', 'Session')
const digest = /^[0-9a-f]{64}$/

function sessionsOf({ store, clock }: Api): Sessions {
  return new Sessions(store, clock)
}

async function write(
  { actor: { user: id, email }, caller, address, ray, now }: UserCall,
  { store }: Api,
  deed: AuditedAction,
): Promise<void> {
  const selfAudit = await SelfAudit.of(store, { id, email }, { address, ray }, now, { ...deed, caller })
  await selfAudit.write()
}

function viewSession(session: Session) {
  const { id, method, secondFactor, createdAt, authenticatedAt, usedAt, address, userAgent } = session
  return {
    id,
    method,
    second_factor: secondFactor,
    created_at: isoTime(createdAt),
    ...(authenticatedAt !== null && { authenticated_at: isoTime(authenticatedAt) }),
    last_used_at: isoTime(usedAt),
    ip: address,
    ...(userAgent !== null && { user_agent: userAgent }),
  }
}
