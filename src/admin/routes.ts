// The table of the admin listener: method, path, permission, handler.

import type { ManagementConfig } from '../config/model/config.ts'
import type { StoreHealth } from '../metrics/counters/counts.ts'
import { metricsContentType } from '../metrics/metrics.ts'
import type { ApiResponse } from './http/envelope.ts'
import { apiIndex, apiOperation, guideNamed, guides } from './docs/docs.ts'
import { documentation, documentationIndex } from './service/error-docs.ts'
import { guarded, guardedForAll, guardedForUser, guardedInZone, guardedUnless } from './api/guard.ts'
import { type HandOver, handover } from './service/handover.ts'
import { alive, ready, type Unready } from './service/health.ts'
import { home } from './service/home.ts'
import { openapi } from './openapi/openapi.ts'
import { obey, type OperatorCommand } from './service/operator-command.ts'
import type { Requester, Route } from './http/router.ts'
import { accountParameters, listAccounts } from './people/accounts.ts'
import { account, type Api, type ApiRow, type PlainRow, row, type UserRow } from './api/api-types.ts'
import { listScopes } from './oauth-clients/scopes.ts'
import { errorParameters, listAccountErrors } from './zones/recent-errors.ts'
import { listZones, zoneParameters } from './zones/zone-list.ts'
import { zoneRows } from './zones/routes.ts'
import { clientRows } from './oauth-clients/routes.ts'
import { accountRows, userRows as peopleRows } from './people/routes.ts'
import { grantRows, userGrantRows } from './oauth-grants/routes.ts'
import { auditRows } from './audit/routes.ts'
import { ownTokenRows, tokenRows } from './tokens/routes.ts'
import { providerRows } from './providers/routes.ts'
import { customProviderRows } from './custom-providers/routes.ts'
import { providerConfigRows } from './provider-configs/routes.ts'
import { dynamicRouteRows } from './dynamic-routes/routes.ts'
import { budgetAlertRows } from './budget-alerts/routes.ts'
import { policyRows } from './policies/routes.ts'
import { gatewayRows } from './gateways/routes.ts'
import { logRows } from './ai-logs/routes.ts'

export interface Facts {
  readonly unready: () => Unready
  readonly metrics: () => Promise<string>
  readonly metricsAccess: ManagementConfig['metrics']
  /** The health of the store; null before it is open. */
  readonly storeHealth?: () => StoreHealth | null
  /** What the management API works on; without it, the API says that the store is unreachable. */
  readonly api?: () => Api | null
  readonly handOver?: HandOver
  readonly reload?: OperatorCommand
  readonly upgrade?: OperatorCommand
}

export const apiRows: readonly ApiRow[] = [
  ...clientRows,
  ...accountRows,
  ...grantRows,
  row('GET', `${account}/errors`, 'Analytics Read', listAccountErrors, { query: errorParameters }),
  ...auditRows,
  ...tokenRows,
  ...gatewayRows,
  ...providerConfigRows,
  ...customProviderRows,
  ...dynamicRouteRows,
  ...policyRows,
  ...budgetAlertRows,
  ...logRows,
  ...providerRows,
]

export const plainRows: readonly PlainRow[] = [
  row('GET', '/client/v4/oauth/scopes', null, listScopes),
  row('GET', '/client/v4/accounts', null, listAccounts, { query: accountParameters }),
  row('GET', '/client/v4/zones', null, listZones, { query: zoneParameters }),
]

export const userRows: readonly UserRow[] = [...peopleRows, ...userGrantRows, ...ownTokenRows]

const documented = [...apiRows, ...zoneRows, ...plainRows, ...userRows]

export const routes: readonly Route<Facts>[] = [
  {
    method: 'GET',
    path: '/',
    handle: ({ requester }, { unready, storeHealth }) =>
      home(requester.accept, unready(), storeHealth?.() ?? null),
  },
  { method: 'GET', path: '/healthz', handle: alive },
  {
    method: 'GET',
    path: '/readyz',
    handle: (_, { unready, storeHealth }) => ready(unready(), storeHealth?.() ?? null),
  },
  guardedUnless(seesMetrics, { path: '/metrics', permission: 'Metrics Read' }, exposition),
  { method: 'POST', path: '/reload', handle: (request, facts) => obey(request, '/reload', facts.reload) },
  { method: 'POST', path: '/upgrade', handle: (request, facts) => obey(request, '/upgrade', facts.upgrade) },
  { method: 'POST', path: '/handover', handle: (request, { handOver }) => handover(request, handOver) },
  { method: 'GET', path: '/errors', handle: ({ requester }) => documentationIndex(requester.accept) },
  {
    method: 'GET',
    path: '/errors/{code}',
    handle: ({ params, requester }) => documentation(params.code!, requester.accept),
  },
  { method: 'GET', path: '/client/v4/openapi.json', handle: () => openapi(documented) },
  { method: 'GET', path: '/docs', handle: guides },
  { method: 'GET', path: '/docs/api', handle: request => apiIndex(request, documented) },
  { method: 'GET', path: '/docs/{guide}', handle: guideNamed },
  { method: 'GET', path: '/docs/api/{operation}', handle: request => apiOperation(request, documented) },
  ...plainRows.map(guardedForAll),
  ...userRows.map(guardedForUser),
  ...apiRows.map(guarded),
  ...zoneRows.map(guardedInZone),
]

function seesMetrics({ isDirect }: Requester, { metricsAccess }: Facts): boolean {
  return metricsAccess === 'open' || (metricsAccess === 'direct' && isDirect)
}

async function exposition({ metrics }: Facts): Promise<ApiResponse> {
  return { status: 200, headers: { 'content-type': metricsContentType }, body: await metrics() }
}
