// Handlers of AI gateways.

import { hash } from 'node:crypto'
import { auditOf, type Resource } from '../../store/records/audit-entry.ts'
import { isGatewayId } from '../../ai/gateway-directory.ts'
import { deletionLine } from '../../log-export/lines.ts'
import { usualMaxTokens } from '../../store/records/budget-rule.ts'
import { apiFaults } from '../../errors/catalogue/api-faults.ts'
import type { Gateway, Token } from '../../store/records/records.ts'
import { membersSet, updateOf } from '../records/audit.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { notBuilt, readGateway, readNewGateway } from './body.ts'
import { type LastingEffect, refusedToApps } from '../api/lasting-access.ts'
import type { Api, Call } from '../api/api-types.ts'
import { openingBeyond } from '../tokens/reach.ts'
import { add, cutOf, drop, isoTime, pageOf, responseOf, revise } from '../records/record-handlers.ts'
import { etagOf, unmet } from '../http/precondition.ts'
import { Parameters } from '../http/query.ts'
import { storedGuard } from '../guard/stored-guard.ts'
import { viewGuard } from '../guard/view.ts'
import { viewSpendLimits } from '../spend-limits/view.ts'

/** Opening a gateway, which lets anyone call it without a token until it is closed. */
export const openGateway: LastingEffect = {
  cannot: 'turn off the authentication of a gateway',
  when: 'found',
}

function refusedOpening(caller: Token): ApiResponse | null {
  const beyond = openingBeyond(caller)
  return (
    refusedToApps(caller, openGateway) ??
    (beyond.length === 0 ? null : failures(beyond, apiFaults.beyond_token.status))
  )
}

export async function createGateway(call: Call, { store, log, secrets }: Api): Promise<ApiResponse> {
  const { account, caller, body, now } = call
  const read = readNewGateway(body)
  if (!('id' in read)) return failures(read)
  const refusal = read.authentication ? null : refusedOpening(caller)
  if (refusal !== null) return refusal
  const guarded = storedGuard(secrets, { account, id: read.id, guard: null }, read.guard)
  if (!('guard' in guarded)) return failures([guarded])
  const { guard } = guarded
  const gateway: Gateway = { account, ...read, guard, createdAt: now, modifiedAt: now }
  const audit = auditOf(call, 'create', resourceOf(gateway), membersSet(body))
  return (await add(store.gateways, gateway, { audit }, log)) ? respondWith(gateway) : taken
}

export async function listGateways({ account, query }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const search = query.get('search') ?? ''
  const listed = { createdAt: ({ createdAt }: Gateway) => createdAt, view }
  if (search === '') return pageOf(store.gateways, account, page, listed)
  const { items, total } = await store.gateways.search(account, search, cutOf(page))
  const placeOf = ({ createdAt, id }: Gateway) => ({ at: createdAt, id })
  return responseOf(items, page, total, { view, placeOf })
}

export async function getGateway({ account, params }: Call, { store }: Api): Promise<ApiResponse> {
  const current = await findGateway(store, account, params.gateway_id!)
  return current ? respondWith(current) : noGateway
}

export async function updateGateway(call: Call, { store, log, secrets }: Api): Promise<ApiResponse> {
  const { account, caller, params, body, now, ifMatch } = call
  const id = params.gateway_id!
  const read = readGateway(body, id)
  if (!('collectLogs' in read)) return failures(read)
  const change = (current: Gateway) => {
    const stale = unmet(ifMatch, revisionOf(current))
    if (stale !== null) return stale
    const authentication = read.authentication ?? current.authentication
    const isOpened = current.authentication && !authentication
    const refusal = isOpened ? refusedOpening(caller) : null
    if (refusal !== null) return refusal
    const guarded = storedGuard(secrets, current, read.guard)
    if (!('guard' in guarded)) return failures([guarded])
    const { guard, isSecretChanged } = guarded
    const settings = { ...current, ...read, guard, authentication }
    const unseen = isSecretChanged ? ['dlp.webhook.secret'] : []
    return {
      record: { ...settings, modifiedAt: now },
      audit: updateOf(call, resourceOf(current), view(current), view(settings), unseen),
    }
  }
  const revised =
    (isGatewayId(id) ? await revise(store.gateways, account, id, change, log) : null) ?? noGateway
  return 'record' in revised ? respondWith(revised.record) : revised
}

/** Removes a gateway and, as the store promises, its logs; their export goes on, and says so at its end. */
export async function deleteGateway(call: Call, { store, log, spool }: Api): Promise<ApiResponse> {
  const gateway = await findGateway(store, call.account, call.params.gateway_id!)
  if (gateway === null) return noGateway
  const audit = auditOf(call, 'delete', resourceOf(gateway))
  if (!(await drop(store.gateways, audit, log))) return noGateway
  await spool?.tell(deletionLine(call, gateway.id))
  return success(view(gateway))
}

/** Finds the gateway of a path; null if there is none. */
export async function findGateway(
  { gateways }: Api['store'],
  account: string,
  id: string,
): Promise<Gateway | null> {
  return isGatewayId(id) ? ((await gateways.get(account, id))?.record ?? null) : null
}

export const noGateway = failure('no_such', 'Gateway')

const taken = failure('gateway_taken')

function resourceOf({ id }: Gateway): Resource {
  return { resourceKind: 'gateway', resource: id }
}

/** Responds with a gateway, and the tag for conditional changes of it. */
function respondWith(gateway: Gateway): ApiResponse {
  return success(view(gateway), etagOf(revisionOf(gateway)))
}

function revisionOf(gateway: Gateway) {
  return { revision: hash('sha256', JSON.stringify(view(gateway))).slice(0, 32) }
}

/** Shows a gateway in the shape of its published clients. */
function view(gateway: Gateway) {
  return {
    id: gateway.id,
    authentication: gateway.authentication,
    byok_only: gateway.byokOnly ?? false,
    collect_logs: gateway.collectLogs,
    log_management: gateway.logManagement,
    log_management_strategy: gateway.logManagementStrategy,
    rate_limiting_interval: gateway.rateLimit?.interval ?? 0,
    rate_limiting_key: gateway.rateLimit?.key ?? 'gateway',
    rate_limiting_limit: gateway.rateLimit?.limit ?? 0,
    rate_limiting_technique: gateway.rateLimit?.technique ?? null,
    retry_max_attempts: gateway.retry?.maxAttempts ?? null,
    retry_delay: gateway.retry?.delay ?? null,
    retry_backoff: gateway.retry?.backoff ?? null,
    on_abandon: gateway.onAbandon ?? 'abort',
    stream_usage: gateway.streamUsage !== false,
    spend_limits: gateway.spendLimits ? viewSpendLimits(gateway.spendLimits) : null,
    default_max_tokens: gateway.defaultMaxTokens ?? usualMaxTokens,
    unpriced_cost: gateway.unpricedCost ?? null,
    cache_ttl: gateway.cacheTtl ?? 0,
    cache_invalidate_on_update: gateway.isCacheInvalidatedOnUpdate ?? false,
    cache_scope: gateway.cacheScope ?? 'token',
    dlp: gateway.guard ? viewGuard(gateway.guard) : null,
    idempotency_keys: gateway.hasIdempotencyKeys ?? false,
    ...notBuilt,
    is_default: gateway.id === 'default',
    created_at: isoTime(gateway.createdAt),
    modified_at: isoTime(gateway.modifiedAt),
  }
}
