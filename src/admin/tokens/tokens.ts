// Handlers of API tokens. A value is shown once, when it is created.

import { hash } from 'node:crypto'
import { isId } from '../../base/ids/id.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { apiFaults } from '../../errors/catalogue/api-faults.ts'
import { auditOf, tokenResource } from '../../store/records/audit-entry.ts'
import type { Token } from '../../store/records/records.ts'
import { newToken, withSettings } from '../../tokens/new-token.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'
import { permits } from '../../permissions/permit.ts'
import { membersSet, updateOf } from '../records/audit.ts'
import { type ApiResponse, failure, failures, list, success } from '../http/envelope.ts'
import type { Api, Call } from '../api/api-types.ts'
import { add, drop, pageOf, put, type Revised, revise } from '../records/record-handlers.ts'
import { once } from '../api/idempotency.ts'
import { etagOf, unmet } from '../http/precondition.ts'
import { Parameters } from '../http/query.ts'
import { readNewToken, readToken } from './body.ts'
import { powersBeyond, reachBeyond } from './reach.ts'
import { statusOf, viewLimits, viewToken } from './view.ts'

export async function createToken(call: Call, api: Api): Promise<ApiResponse> {
  return once(call, api, ['POST', 'tokens'], async keep => {
    const { account, caller, body, now } = call
    const read = readNewToken(body, account, now)
    if (!('name' in read)) return failures(read)
    const excess = reachBeyond(read, caller)
    if (excess.length > 0) return failures(excess, apiFaults.beyond_token.status)
    const { token, value } = newToken(account, read, now, await api.tags.mint('svct_'))
    const response = success({ ...viewToken(token, now), value })
    const sideWrites = {
      audit: auditOf(call, 'create', tokenResource(token), membersSet(body)),
      ...keep(response),
    }
    return (await add(api.store.tokens, token, sideWrites, api.log)) ? response : null
  })
}

export async function listTokens({ account, query, now }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const descending = parameters.choice('direction', ['asc', 'desc']) === 'desc'
  const takesExpired = parameters.choice('include_expired', ['false', 'true']) === 'true'
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const name = query.get('name')?.toLowerCase() ?? ''
  let uses: ReadonlyMap<string, number>
  return pageOf(store.tokens, account, page, {
    createdAt: ({ issuedOn }) => issuedOn,
    prepare: async tokens => {
      uses = await store.tokens.lastUses(
        account,
        tokens.map(({ id }) => id),
      )
    },
    view: token => viewToken(token, now, uses.get(token.id)),
    holds:
      takesExpired && name === ''
        ? null
        : token =>
            (takesExpired || statusOf(token, now) !== 'expired') && token.name.toLowerCase().includes(name),
    descending,
  })
}

export async function getToken({ account, params, now }: Call, { store }: Api): Promise<ApiResponse> {
  const id = params.token_id!
  if (!isId(id)) return noToken
  const [current, uses] = await Promise.all([
    store.tokens.get(account, id),
    store.tokens.lastUses(account, [id]),
  ])
  return current ? respondWith(current.record, now, uses.get(id)) : noToken
}

export async function updateToken(call: Call, api: Api): Promise<ApiResponse> {
  const { account, caller, params, body, now, ifMatch } = call
  const read = readToken(body, account, params.token_id!)
  if (!('name' in read)) return failures(read)
  const excess = reachBeyond(read, caller)
  if (excess.length > 0) return failures(excess, apiFaults.beyond_token.status)
  const revised = await reviseToken(call, api, current => {
    const refusal = untouchable(powersBeyond(current.policies, caller))
    const stopped = refusal ?? unmet(ifMatch, revisionOf(current))
    if (stopped) return stopped
    const record = withSettings({ ...current, status: read.status ?? current.status }, read, now)
    return {
      record,
      audit: updateOf(call, tokenResource(record), settingsOf(current, now), settingsOf(record, now)),
    }
  })
  if (!('record' in revised)) return revised
  const { id } = revised.record
  const uses = await api.store.tokens.lastUses(account, [id])
  return respondWith(revised.record, now, uses.get(id))
}

export async function deleteToken(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const { account, caller, params } = call
  const id = params.token_id!
  const current = isId(id) ? await store.tokens.get(account, id) : null
  if (!current) return noToken
  const refusal = untouchable(powersBeyond(current.record.policies, caller))
  if (refusal) return refusal
  const audit = auditOf(call, 'delete', tokenResource(current.record))
  return (await drop(store.tokens, audit, log)) ? success({ id }) : noToken
}

/** Replaces the value of a token; the old one ends at once. */
export async function rollToken(call: Call, api: Api): Promise<ApiResponse> {
  const { account, caller, params, now } = call
  const id = params.token_id!
  return once(call, api, ['PUT', 'value', id], async keep => {
    const current = isId(id) ? await api.store.tokens.get(account, id) : null
    if (current === null) return noToken
    const refusal = untouchable(reachBeyond(current.record, caller))
    if (refusal) return refusal
    if (current.record.person !== undefined) return failure('personal_token')
    const { value, digest } = await api.tags.mint('svct_')
    const response = success(value)
    const sideWrites = {
      audit: auditOf(call, 'roll', tokenResource(current.record), ['value']),
      ...keep(response),
    }
    const rolled = { ...current.record, digest, modifiedOn: now }
    return (await put(api.store.tokens, rolled, current.version, sideWrites, api.log)) ? response : null
  })
}

/** Confirms that the caller's token is valid: the guard has checked that. */
export async function verifyToken({ caller, now }: Call): Promise<ApiResponse> {
  return success({ id: caller.id, status: statusOf(caller, now), ...viewLimits(caller) })
}

export async function listPermissionGroups({ account, caller, query }: Call): Promise<ApiResponse> {
  const [name, scope] = [query.get('name'), query.get('scope')]
  const groups = permissionGroups
    .filter(
      group =>
        (name ?? group.name) === group.name && (scope === null || group.scopes.some(some => some === scope)),
    )
    .map(group => ({ ...group, is_selectable: permits(caller, group.name, account) }))
  return list(groups, { page: 1, perPage: permissionGroups.length, total: groups.length })
}

function respondWith(token: Token, now: number, lastUsed: number | undefined): ApiResponse {
  return success(viewToken(token, now, lastUsed), etagOf(revisionOf(token)))
}

/** Neither expiry nor use changes the revision of a token. */
function revisionOf(token: Token) {
  return { revision: hash('sha256', JSON.stringify(viewToken(token, 0))).slice(0, 32) }
}

export const noToken = failure('no_such', 'Token')

async function reviseToken(
  { account, params }: Call,
  { store, log }: Api,
  change: (current: Token) => Revised<Token>,
): Promise<Revised<Token>> {
  const id = params.token_id!
  return (isId(id) ? await revise(store.tokens, account, id, change, log) : null) ?? noToken
}

function settingsOf(token: Token, now: number) {
  const { policies, modified_on, ...view } = viewToken(token, now)
  return { ...view, policies: policies.map(({ id, ...policy }) => policy) }
}

/** Refuses to change an existing token; no member of a body is to blame. */
export function untouchable(excess: readonly Fault[]): ApiResponse | null {
  if (excess.length === 0) return null
  return failures(
    excess.map(fault => ({ ...fault, pointer: null })),
    apiFaults.beyond_token.status,
  )
}
