// Guards each row of the management API. Without the store, even cached callers may get 503.

import { isId } from '../../base/ids/id.ts'
import { systemClock } from '../../base/clock.ts'
import { refuse, retryAfterOf } from '../../errors/catalogue/refusal.ts'
import { pause } from '../../base/turns/turns.ts'
import type { StoreHealth } from '../../metrics/counters/counts.ts'
import type { Token } from '../../store/records/records.ts'
import { type Store, StoreDegraded, type StoreFault, StoreUnreachable } from '../../store/contract/store.ts'
import { bearerOf } from '../../tokens/bearer.ts'
import { type Permission, permits, reaches } from '../../permissions/permit.ts'
import { type ApiResponse, failure, failures, withHeaders } from '../http/envelope.ts'
import { refusedToApps } from './lasting-access.ts'
import { noInput, readInput } from '../http/request-body.ts'
import { strayParameters } from '../http/query.ts'
import type { Requester, ApiRequest, Route } from '../http/router.ts'
import {
  type Api,
  type ApiRow,
  type Call,
  type PlainRow,
  type Row,
  takesNoBody,
  type UserRow,
  type ZoneRow,
} from './api-types.ts'
import { addressOf } from '../http/caller-address.ts'
import { oldestOf, ownerOf } from './zone-owner.ts'
import { missingScope, missingToken, missingUserScope } from './protected-resource.ts'

type Facts = { readonly api?: () => Api | null; readonly storeHealth?: () => StoreHealth | null }
type GuardedRow = Pick<Row, 'method' | 'path' | 'permission' | 'scope' | 'lastingAccess'>
type Refuse = (caller: Token) => ApiResponse | null

export function guarded(row: ApiRow): Route<Facts> {
  const { method, path } = row
  return { method, path, handle: (request, facts) => withApi(facts, api => admit(row, request, api)) }
}

export function guardedInZone(row: ZoneRow): Route<Facts> {
  const { method, path } = row
  return { method, path, handle: (request, facts) => withApi(facts, api => admitToZone(row, request, api)) }
}

export function guardedForAll(row: PlainRow): Route<Facts> {
  const { method, path } = row
  return { method, path, handle: (request, facts) => withApi(facts, api => admitAnyone(row, request, api)) }
}

export function guardedForUser(row: UserRow): Route<Facts> {
  const { method, path } = row
  return { method, path, handle: (request, facts) => withApi(facts, api => admitUser(row, request, api)) }
}

/** A row about the gateway as a whole, which belongs to the oldest account; public if `isOpen`. */
export function guardedUnless<F extends Facts>(
  isOpen: (requester: Requester, facts: F) => boolean,
  { path, permission }: { readonly path: string; readonly permission: Permission },
  handle: (facts: F) => Promise<ApiResponse>,
): Route<F> {
  const row = { method: 'GET', path, permission } as const
  return {
    ...row,
    handle: ({ requester }, facts) => {
      if (isOpen(requester, facts)) return handle(facts)
      return withApi(facts, async api => {
        const caller = await callerOf(row, requester, api)
        if ('body' in caller) return caller
        const oldest = await oldestOf(api.store.accounts)
        if (oldest !== null && permits(caller, permission, oldest)) return handle(facts)
        api.refusals?.note('forbidden', row, requester, caller)
        return forbidden(permission, caller, requester, api)
      })
    },
  }
}

function withApi(facts: Facts, ask: (api: Api) => Promise<ApiResponse>): ApiResponse | Promise<ApiResponse> {
  const api = facts.api?.() ?? null
  if (api !== null) return ask(api).catch(respondToStoreFailure)
  const [reason] = facts.storeHealth?.()?.degradation.reasons ?? []
  return reason === undefined ? storeUnreachable : degraded(reason)
}

function respondToStoreFailure(error: unknown): ApiResponse {
  if (error instanceof StoreDegraded) return degraded(error)
  if (error instanceof StoreUnreachable) return unavailable(error.fault as Exclude<StoreFault, 'degraded'>)
  throw error
}

async function callerOf(row: GuardedRow, requester: Requester, api: Api): Promise<Token | ApiResponse> {
  const caller = await verified(row, requester, api)
  if ('body' in caller) return caller
  const { writes, refusals } = api
  const wait = row.method === 'GET' ? null : ((await writes?.spend(caller)) ?? null)
  if (wait !== null) {
    refusals?.note('too_many', row, requester, caller)
    return tooMany(wait)
  }
  // Before its scopes are checked: no other scope would do.
  const refusal = outlastingRefusal(row, caller)
  if (refusal !== null) refusals?.note('beyond_token', row, requester, caller)
  return refusal ?? caller
}

function outlastingRefusal({ lastingAccess = 'nothing' }: GuardedRow, caller: Token): ApiResponse | null {
  return lastingAccess === 'nothing' || lastingAccess.when === 'found'
    ? null
    : refusedToApps(caller, lastingAccess)
}

async function verified(
  row: GuardedRow,
  requester: Requester,
  { verifier, refusals, issuer = null }: Api,
): Promise<Token | ApiResponse> {
  const { authorization, address, shown } = requester
  const caller =
    requester.caller ?? (await verifier.verify(bearerOf(authorization), address, 'management', shown))
  if (caller === 'store_unreachable') return storeUnreachable
  if (typeof caller !== 'string') return caller
  refusals?.note(caller, row, requester)
  const challenge = missingToken(requester, issuer, row, caller !== 'missing')
  return withHeaders(unauthorized, { 'www-authenticate': challenge })
}

async function admit(row: ApiRow, request: ApiRequest, api: Api): Promise<ApiResponse> {
  const { requester } = request
  const caller = await callerOf(row, requester, api)
  if ('body' in caller) return caller
  const account = request.params.account_id!
  const refused: Refuse = caller => {
    if (mayAsk(caller, row.permission, account)) return null
    api.refusals?.note('forbidden', row, requester, caller)
    return forbidden(row.permission, caller, requester, api)
  }
  const refusal = refused(caller)
  if (refusal !== null) return refusal
  if (caller.account !== account && !(await exists(account, api.store))) return failure('no_such', 'Account')
  const call = await callOf(row, request, { account, caller, refused }, api)
  if ('status' in call) return call
  await pause()
  const response = await row.handle(call, api)
  if (response.status === 403) api.refusals?.note('beyond_token', row, requester, caller)
  return settled(row, response, api)
}

async function admitAnyone(row: PlainRow, request: ApiRequest, api: Api): Promise<ApiResponse> {
  const caller = await callerOf(row, request.requester, api)
  if ('body' in caller) return caller
  const call = await callOf(row, request, { account: caller.account, caller, refused: () => null }, api)
  return 'status' in call ? call : settled(row, await row.handle(call, api), api)
}

async function admitUser(row: UserRow, request: ApiRequest, api: Api): Promise<ApiResponse> {
  const { requester } = request
  const caller = await callerOf(row, requester, api)
  if ('body' in caller) return caller
  const refused: Refuse = caller => {
    if (caller.actor !== undefined && hasScope(caller.actor.scopes, row.scope)) return null
    api.refusals?.note('forbidden', row, requester, caller)
    const response = failure('no_user', row.scope)
    const challenge = missingUserScope(requester, api.issuer ?? null, row.scope, caller)
    return challenge === null ? response : withHeaders(response, { 'www-authenticate': challenge })
  }
  const refusal = refused(caller)
  if (refusal !== null) return refusal
  const call = await callOf(row, request, { account: caller.account, caller, refused }, api)
  if ('status' in call) return call
  return settled(row, await row.handle({ ...call, actor: call.caller.actor! }, api), api)
}

/** Writing includes reading. */
function hasScope(scopes: readonly string[], wanted: string): boolean {
  return scopes.includes(wanted) || scopes.includes(wanted.replace(/\.read$/, '.write'))
}

/** Responds for somebody else's zone as for a missing one, so that callers cannot probe for zones. */
async function admitToZone(row: ZoneRow, request: ApiRequest, api: Api): Promise<ApiResponse> {
  const { requester } = request
  const caller = await callerOf(row, requester, api)
  if ('body' in caller) return caller
  const zone = api.zones.find(request.params.zone!)
  const account = zone && (await ownerOf(zone, api.store.accounts))
  const refused: Refuse = caller => {
    if (zone !== null && account !== null && permits(caller, row.permission, account)) return null
    if (permits(caller, row.permission, caller.account)) return noZone
    api.refusals?.note('forbidden', row, requester, caller)
    return forbidden(row.permission, caller, requester, api)
  }
  const refusal = refused(caller)
  if (refusal !== null) return refusal
  const call = await callOf(row, request, { account: account!, caller, refused }, api)
  return 'status' in call ? call : settled(row, await row.handle({ ...call, zone: zone! }, api), api)
}

/** A body may take its time to arrive: the caller's rights are checked again after it. */
async function callOf(
  row: Row,
  { params, query, requester }: ApiRequest,
  who: Pick<Call, 'account' | 'caller'> & { readonly refused: Refuse },
  api: Api,
): Promise<Call | ApiResponse> {
  const strays = row.query === null ? [] : strayParameters(query, row.query ?? [])
  if (strays.length > 0) return failures(strays)
  const { contentType, readBody, ray, ifMatch, ifNoneMatch, idempotencyKey } = requester
  const { body: kind = null } = row
  const isRead = kind !== null || takesNoBody(row)
  const input = isRead ? await readInput(kind, contentType, readBody) : noInput
  if ('status' in input) return input
  const caller = isRead ? await verified(row, requester, api) : who.caller
  if ('body' in caller) return caller
  const refusal = caller === who.caller ? null : who.refused(caller)
  if (refusal !== null) return refusal
  const { value: body, bytes } = input
  const { clock = systemClock } = api
  return {
    account: who.account,
    caller,
    now: clock.now(),
    address: addressOf(requester),
    ray,
    ifMatch,
    ifNoneMatch,
    idempotencyKey,
    params,
    query,
    body,
    bytes,
  }
}

/** Confirms an obstacle, which may be there by a write that got 503 and can still be lost. */
async function settled({ method }: Row, response: ApiResponse, { store }: Api): Promise<ApiResponse> {
  const { status } = response
  if (status === 409 || status === 412 || (status === 404 && method === 'DELETE')) await store.confirm()
  return response
}

function mayAsk(caller: Token, permission: Permission | null, account: string): boolean {
  return permission === null ? reaches(caller, account) : permits(caller, permission, account)
}

async function exists(account: string, { accounts }: Store): Promise<boolean> {
  return isId(account) && (await accounts.get(account)) !== null
}

const unauthorized = failure('unauthorized')
const storeUnreachable = unavailable('unreachable')
const noZone = failure('no_zone')

function unavailable(fault: Exclude<StoreFault, 'degraded'>): ApiResponse {
  return retryLater(failure(`store_${fault}`))
}

function degraded({ message, remedy }: { readonly message: string; readonly remedy: string }): ApiResponse {
  return retryLater(failure('store_degraded', message, remedy))
}

function retryLater(response: ApiResponse): ApiResponse {
  const retryAfter = String(retryAfterOf(refuse('service_unavailable')))
  return withHeaders(response, { 'retry-after': retryAfter })
}

function tooMany(seconds: number): ApiResponse {
  return withHeaders(failure('too_many_changes'), { 'retry-after': String(seconds) })
}

function forbidden(
  permission: Permission | null,
  caller: Token,
  requester: Requester,
  { issuer = null }: Api,
): ApiResponse {
  if (permission === null) return failure('forbidden', 'a token that may access this account')
  const response = failure('forbidden', `the permission ${permission} on this account`)
  const challenge = missingScope(requester, issuer, permission, caller)
  return challenge === null ? response : withHeaders(response, { 'www-authenticate': challenge })
}
