// The schemas among the components of the document, by name.

import { about, open, type Schema, text, whole } from '../schema/schema.ts'
import { auditEntry } from '../audit/schemas.ts'
import { oauthClient, oauthClientWithSecret, oauthScope, verification } from '../oauth-clients/schemas.ts'
import { accountGrant, authorizationEvent, clientGrant, userGrant } from '../oauth-grants/schemas.ts'
import { accessRule } from '../zones/rules/access-rule-schemas.ts'
import { errorPage, errorRule } from '../zones/custom-errors/schemas.ts'
import { customProvider } from '../custom-providers/schemas.ts'
import { providerConfig } from '../provider-configs/schemas.ts'
import { dynamicRoute, routeDeployment, routeElement, routeVersion } from '../dynamic-routes/schemas.ts'
import { gateway, gatewayRateLimit, storedResponses } from '../gateways/schemas.ts'
import { budgetAlert } from '../budget-alerts/schemas.ts'
import { gatewayPolicy, policyCommit, policyDraft } from '../policies/schemas.ts'
import { logEntry, logSeries, logSums, logSummary } from '../ai-logs/schemas.ts'
import { provider, providerTest } from '../providers/schemas.ts'
import { explanation } from '../zones/explain-schemas.ts'
import { attention } from '../overview/attention-schemas.ts'
import { overview } from '../overview/schemas.ts'
import { certificate } from '../zones/certificate-schemas.ts'
import { pool } from '../zones/origin-schemas.ts'
import { recentError } from '../zones/recent-error-schemas.ts'
import { mcpRoute } from '../zones/mcp-schemas.ts'
import { rateLimit } from '../zones/rate-limit-schemas.ts'
import { accessRuleHits, errorRuleHits } from '../zones/rules/rule-hits-schemas.ts'
import { zone } from '../zones/zone-schemas.ts'
import { account, invitedMember, member, membership, role, session, user } from '../people/schemas.ts'
import { budgets } from '../spend-limits/schemas.ts'
import { policy, token } from '../tokens/schemas.ts'

export const schemas = {
  OAuthClient: oauthClient,
  OAuthClientWithSecret: oauthClientWithSecret,
  ClientUriVerification: verification,
  OAuthScope: oauthScope,
  Account: account,
  Role: role,
  Member: member,
  InvitedMember: invitedMember,
  User: user,
  Membership: membership,
  Session: session,
  UserGrant: userGrant,
  AccountGrant: accountGrant,
  ClientGrant: clientGrant,
  AuthorizationEvent: authorizationEvent,
  Token: token,
  Policy: policy,
  Gateway: gateway,
  ProviderConfig: providerConfig,
  CustomProvider: customProvider,
  DynamicRoute: dynamicRoute,
  RouteElement: routeElement,
  RouteVersion: routeVersion,
  RouteDeployment: routeDeployment,
  BudgetAlert: budgetAlert,
  GatewayPolicy: gatewayPolicy,
  PolicyCommit: policyCommit,
  PolicyDraft: policyDraft,
  Provider: provider,
  ProviderTest: providerTest,
  LogSummary: logSummary,
  LogEntry: logEntry,
  LogSums: logSums,
  LogSeries: logSeries,
  ErrorRule: errorRule,
  ErrorPage: errorPage,
  AccessRule: accessRule,
  Zone: zone,
  RateLimit: rateLimit,
  McpRoute: mcpRoute,
  Budgets: budgets,
  GatewayRateLimit: gatewayRateLimit,
  StoredResponses: storedResponses,
  HappenedError: recentError,
  AccessRuleHits: accessRuleHits,
  ErrorRuleHits: errorRuleHits,
  Pool: pool,
  Certificate: certificate,
  Explanation: explanation,
  AuditEntry: auditEntry,
  Overview: overview,
  Attention: attention,
  ResultInfo: open(
    { page: whole(1), per_page: whole(1), count: whole(0), total_count: whole(0) },
    { cursor: about('Leads to the next page; absent on the last one.', text) },
  ),
  Source: open({ pointer: { ...text, format: 'json-pointer' } }),
} satisfies Record<string, Schema>
