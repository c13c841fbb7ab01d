// The table of the admin listener: method, path, permission, handler.

import type { ManagementConfig } from '../config/config.ts'
import type { StoreSigns } from '../metrics/counts.ts'
import { metricsContentType } from '../metrics/metrics.ts'
import {
  auditExportParameters,
  auditParameters,
  exportAuditLogs,
  listAuditLogs,
} from './records/audit-logs.ts'
import { deleteRotatedSecret, rotateSecret } from './oauth-clients/secrets.ts'
import {
  clientParameters,
  createClient,
  deleteClient,
  getClient,
  listClients,
  updateClient,
} from './oauth-clients/clients.ts'
import type { ApiResponse } from './envelope.ts'
import { documentation, documentationIndex } from './error-docs.ts'
import { createGateway, deleteGateway, getGateway, listGateways, updateGateway } from './gateways/gateways.ts'
import { guarded, guardedForAll, guardedForUser, guardedInZone, guardedUnless } from './guard.ts'
import type { Api } from './row.ts'
import { type HandOver, handover } from './handover.ts'
import { alive, ready, type Unready } from './health.ts'
import { home } from './home.ts'
import { jsonBody } from './request/input.ts'
import {
  deleteLogs,
  getLog,
  getLogProviderResponse,
  getLogRequest,
  getLogResponse,
  listLogs,
  sumLogs,
} from './ai-logs/logs.ts'
import { tailLogs } from './ai-logs/scan.ts'
import { seriesOfLogs } from './ai-logs/series.ts'
import { listAttention } from './attention/list-attention.ts'
import { getOverview } from './overview/overview.ts'
import { openapi } from './openapi/openapi.ts'
import { deleteAccountGrant, getAccountGrant, listAccountGrants } from './oauth-grants/account-grants.ts'
import { deleteClientGrant, deleteClientGrants, listClientGrants } from './oauth-grants/client-grants.ts'
import { eventParameters, listAuthorizationEvents } from './oauth-grants/events.ts'
import { deleteUserGrant, listUserGrants } from './oauth-grants/user-grants.ts'
import {
  deleteMembership,
  getMembership,
  listMemberships,
  membershipParameters,
  updateMembership,
} from './people/memberships.ts'
import { deleteSession, deleteSessions, listSessions, sessionParameters } from './people/sessions.ts'
import { getUser } from './people/user.ts'
import { pageParameters } from './request/query.ts'
import type { Requester, Route } from './router.ts'
import { listMembers, memberParameters } from './people/member-list.ts'
import {
  createMember,
  deleteMember,
  getMember,
  reinviteMember,
  signMemberOut,
  updateMember,
} from './people/members.ts'
import { getRole, listRoles, roleParameters } from './people/roles.ts'
import { accountParameters, getAccount, listAccounts, updateAccount } from './people/accounts.ts'
import type { ApiRow, PlainRow, UserRow } from './row.ts'
import { listScopes } from './oauth-clients/scopes.ts'
import {
  createToken,
  deleteToken,
  getToken,
  listPermissionGroups,
  listTokens,
  rollToken,
  updateToken,
  verifyToken,
} from './tokens/tokens.ts'
import { errorParameters, listAccountErrors } from './zones/happened-errors.ts'
import { listZones, zoneParameters } from './zones/zone-list.ts'
import { zoneRows } from './zones/zone-routes.ts'

/** What the handlers know of the gateway. */
export interface Facts {
  readonly unready: () => Unready
  /** Writes all metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<string>
  /** Who sees the metrics without a token. */
  readonly metricsAccess: ManagementConfig['metrics']
  /** How the store is; null while it isn't open. */
  readonly storeSigns?: () => StoreSigns | null
  /** What the management API works on; without it, the API says that the store is unreachable. */
  readonly api?: () => Api | null
  readonly handOver?: HandOver
}

const account = '/client/v4/accounts/{account_id}'
const clients = `${account}/oauth_clients`
const client = `${account}/oauth_clients/{client_id}`
const secret = `${account}/oauth_clients/{client_id}/rotate_secret`
const members = `${account}/members`
const member = `${account}/members/{member_id}`
const roles = `${account}/roles`
const user = '/client/v4/user'
const memberships = '/client/v4/memberships'
const membership = `${memberships}/{membership_id}`
const clientGrants = `${client}/grants`
const accountGrants = `${account}/oauth_grants`
const tokens = `${account}/tokens`
const token = `${account}/tokens/{token_id}`
const gateways = `${account}/ai-gateway/gateways`
const gateway = `${account}/ai-gateway/gateways/{gateway_id}`
const logs = `${account}/ai-gateway/gateways/{gateway_id}/logs`
const log = `${account}/ai-gateway/gateways/{gateway_id}/logs/{log_id}`

const listOfTokens = [...pageParameters, 'direction', 'include_expired']
const listOfGateways = [...pageParameters, 'search']

/** The management API of accounts. */
export const apiRows: readonly ApiRow[] = [
  {
    method: 'POST',
    path: clients,
    permission: 'OAuth Clients Write',
    body: jsonBody,
    headers: ['idempotency-key'],
    handle: createClient,
  },
  {
    method: 'GET',
    path: clients,
    permission: 'OAuth Clients Read',
    query: clientParameters,
    handle: listClients,
  },
  { method: 'GET', path: client, permission: 'OAuth Clients Read', handle: getClient },
  {
    method: 'PATCH',
    path: client,
    permission: 'OAuth Clients Write',
    body: jsonBody,
    headers: ['if-match'],
    handle: updateClient,
  },
  {
    method: 'DELETE',
    path: client,
    permission: 'OAuth Clients Write',
    headers: ['if-match'],
    handle: deleteClient,
  },
  {
    method: 'POST',
    path: secret,
    permission: 'OAuth Clients Write',
    headers: ['if-match', 'idempotency-key'],
    handle: rotateSecret,
  },
  {
    method: 'DELETE',
    path: secret,
    permission: 'OAuth Clients Write',
    headers: ['if-match'],
    handle: deleteRotatedSecret,
  },

  { method: 'GET', path: account, permission: null, handle: getAccount },
  { method: 'GET', path: `${account}/overview`, permission: null, handle: getOverview },
  { method: 'GET', path: `${account}/attention`, permission: null, handle: listAttention },
  { method: 'PUT', path: account, permission: 'Members Write', body: jsonBody, handle: updateAccount },
  {
    method: 'POST',
    path: members,
    permission: 'Members Write',
    body: jsonBody,
    headers: ['idempotency-key'],
    handle: createMember,
  },
  { method: 'GET', path: members, permission: 'Members Read', query: memberParameters, handle: listMembers },
  {
    method: 'POST',
    path: `${member}/invitation`,
    permission: 'Members Write',
    handle: reinviteMember,
  },
  {
    method: 'DELETE',
    path: `${member}/sessions`,
    permission: 'Members Write',
    handle: signMemberOut,
  },
  { method: 'GET', path: member, permission: 'Members Read', handle: getMember },
  {
    method: 'PUT',
    path: member,
    permission: 'Members Write',
    body: jsonBody,
    headers: ['if-match'],
    handle: updateMember,
  },
  {
    method: 'DELETE',
    path: member,
    permission: 'Members Write',
    headers: ['if-match'],
    handle: deleteMember,
  },
  { method: 'GET', path: roles, permission: 'Members Read', query: roleParameters, handle: listRoles },
  { method: 'GET', path: `${roles}/{role_id}`, permission: 'Members Read', handle: getRole },

  {
    method: 'GET',
    path: clientGrants,
    permission: 'OAuth Clients Read',
    query: pageParameters,
    handle: listClientGrants,
  },
  { method: 'DELETE', path: clientGrants, permission: 'OAuth Clients Write', handle: deleteClientGrants },
  {
    method: 'DELETE',
    path: `${clientGrants}/{grant_id}`,
    permission: 'OAuth Clients Write',
    handle: deleteClientGrant,
  },
  {
    method: 'GET',
    path: `${client}/authorization_events`,
    permission: 'OAuth Clients Read',
    query: eventParameters,
    handle: listAuthorizationEvents,
  },
  {
    method: 'GET',
    path: accountGrants,
    permission: 'Members Read',
    query: pageParameters,
    handle: listAccountGrants,
  },
  { method: 'GET', path: `${accountGrants}/{grant_id}`, permission: 'Members Read', handle: getAccountGrant },
  {
    method: 'DELETE',
    path: `${accountGrants}/{grant_id}`,
    permission: 'Members Write',
    handle: deleteAccountGrant,
  },

  {
    method: 'GET',
    path: `${account}/errors`,
    permission: 'Analytics Read',
    query: errorParameters,
    handle: listAccountErrors,
  },

  // Who may see tokens may see what was done with them.
  {
    method: 'GET',
    path: `${account}/audit_logs`,
    permission: 'API Tokens Read',
    query: auditParameters,
    handle: listAuditLogs,
  },
  {
    method: 'GET',
    path: `${account}/audit_logs/export`,
    permission: 'API Tokens Read',
    query: auditExportParameters,
    handle: exportAuditLogs,
  },

  { method: 'GET', path: `${tokens}/verify`, permission: null, handle: verifyToken },
  {
    method: 'GET',
    path: `${tokens}/permission_groups`,
    permission: 'API Tokens Read',
    query: ['name', 'scope'],
    handle: listPermissionGroups,
  },
  {
    method: 'POST',
    path: tokens,
    permission: 'API Tokens Write',
    body: jsonBody,
    headers: ['idempotency-key'],
    handle: createToken,
  },
  { method: 'GET', path: tokens, permission: 'API Tokens Read', query: listOfTokens, handle: listTokens },
  { method: 'GET', path: token, permission: 'API Tokens Read', handle: getToken },
  { method: 'PUT', path: token, permission: 'API Tokens Write', body: jsonBody, handle: updateToken },
  { method: 'DELETE', path: token, permission: 'API Tokens Write', handle: deleteToken },
  {
    method: 'PUT',
    path: `${token}/value`,
    permission: 'API Tokens Write',
    headers: ['idempotency-key'],
    handle: rollToken,
  },

  { method: 'POST', path: gateways, permission: 'AI Gateway Edit', body: jsonBody, handle: createGateway },
  {
    method: 'GET',
    path: gateways,
    permission: 'AI Gateway Read',
    query: listOfGateways,
    handle: listGateways,
  },
  { method: 'GET', path: gateway, permission: 'AI Gateway Read', handle: getGateway },
  {
    method: 'PUT',
    path: gateway,
    permission: 'AI Gateway Edit',
    body: jsonBody,
    headers: ['if-match'],
    handle: updateGateway,
  },
  { method: 'DELETE', path: gateway, permission: 'AI Gateway Edit', handle: deleteGateway },

  { method: 'GET', path: logs, permission: 'AI Gateway Read', query: null, handle: listLogs },
  { method: 'DELETE', path: logs, permission: 'AI Gateway Edit', query: null, handle: deleteLogs },
  { method: 'GET', path: `${logs}/series`, permission: 'AI Gateway Read', query: null, handle: seriesOfLogs },
  { method: 'GET', path: `${logs}/tail`, permission: 'AI Gateway Read', query: null, handle: tailLogs },
  { method: 'GET', path: `${logs}/summary`, permission: 'AI Gateway Read', query: null, handle: sumLogs },
  { method: 'GET', path: log, permission: 'AI Gateway Read', handle: getLog },
  { method: 'GET', path: `${log}/request`, permission: 'AI Gateway Read', handle: getLogRequest },
  { method: 'GET', path: `${log}/response`, permission: 'AI Gateway Read', handle: getLogResponse },
  {
    method: 'GET',
    path: `${log}/provider_response`,
    permission: 'AI Gateway Read',
    handle: getLogProviderResponse,
  },
]

/** The rows of the management API outside of accounts. */
export const plainRows: readonly PlainRow[] = [
  { method: 'GET', path: '/client/v4/oauth/scopes', permission: null, handle: listScopes },
  {
    method: 'GET',
    path: '/client/v4/accounts',
    permission: null,
    query: accountParameters,
    handle: listAccounts,
  },
  {
    method: 'GET',
    path: '/client/v4/zones',
    permission: null,
    query: zoneParameters,
    handle: listZones,
  },
]

/** The rows of the management API about the user for whom a token acts. */
export const userRows: readonly UserRow[] = [
  { method: 'GET', path: user, permission: null, scope: 'user.read', handle: getUser },
  {
    method: 'GET',
    path: memberships,
    permission: null,
    scope: 'memberships.read',
    query: membershipParameters,
    handle: listMemberships,
  },
  { method: 'GET', path: membership, permission: null, scope: 'memberships.read', handle: getMembership },
  {
    method: 'PUT',
    path: membership,
    permission: null,
    scope: 'memberships.write',
    body: jsonBody,
    handle: updateMembership,
  },
  {
    method: 'DELETE',
    path: membership,
    permission: null,
    scope: 'memberships.write',
    handle: deleteMembership,
  },
  {
    method: 'GET',
    path: `${user}/sessions`,
    permission: null,
    scope: 'user_access.read',
    query: sessionParameters,
    handle: listSessions,
  },
  {
    method: 'DELETE',
    path: `${user}/sessions`,
    permission: null,
    scope: 'user_access.write',
    handle: deleteSessions,
  },
  {
    method: 'DELETE',
    path: `${user}/sessions/{session_id}`,
    permission: null,
    scope: 'user_access.write',
    handle: deleteSession,
  },
  {
    method: 'GET',
    path: `${user}/oauth_grants`,
    permission: null,
    scope: 'user_access.read',
    query: pageParameters,
    handle: listUserGrants,
  },
  {
    method: 'DELETE',
    path: `${user}/oauth_grants/{grant_id}`,
    permission: null,
    scope: 'user_access.write',
    handle: deleteUserGrant,
  },
]

export const routes: readonly Route<Facts>[] = [
  {
    method: 'GET',
    path: '/',
    handle: ({ requester }, { unready, storeSigns }) =>
      home(requester.accept, unready(), storeSigns?.() ?? null),
  },
  { method: 'GET', path: '/healthz', handle: alive },
  {
    method: 'GET',
    path: '/readyz',
    handle: (_, { unready, storeSigns }) => ready(unready(), storeSigns?.() ?? null),
  },
  guardedUnless(seesMetrics, { path: '/metrics', permission: 'Metrics Read' }, exposition),
  { method: 'POST', path: '/handover', handle: (request, { handOver }) => handover(request, handOver) },
  { method: 'GET', path: '/errors', handle: ({ requester }) => documentationIndex(requester.accept) },
  {
    method: 'GET',
    path: '/errors/{code}',
    handle: ({ params, requester }) => documentation(params.code!, requester.accept),
  },
  {
    method: 'GET',
    path: '/client/v4/openapi.json',
    handle: () => openapi([...apiRows, ...zoneRows, ...plainRows, ...userRows]),
  },
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
