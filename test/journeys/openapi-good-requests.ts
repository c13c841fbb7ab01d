// A good request to each operation of the API's document, less its body, with all that it needs made before. Called by openapi.test.ts.

import { randomBytes } from 'node:crypto'
import { Sessions } from '../../src/people/sessions/sessions.ts'
import { roles } from '../../src/permissions/roles.ts'
import { everybody } from '../../src/store/records/people.ts'
import { policySetId } from '../../src/store/records/policy.ts'
import { routeOwner } from '../../src/store/records/model-route.ts'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import { entryWith, keepEntries } from '../admin/ai-logs/log-entries.ts'
import { keepAccess } from '../admin/oauth-grants/access.ts'
import { account, tokenWith } from '../tokens/token-with.ts'
import { keepMember, memberWith, role } from '../admin/people/people.ts'
import { type Api, type Ask, ask, exampleOf } from './openapi-asks.ts'

export const logParams = { gateway_id: 'default', log_id: '0000000000000001' }

const none = () => ({})

/** By the id of the operation. */
export const good: Readonly<Record<string, (api: Api) => Ask | Promise<Ask>>> = {
  createOAuthClient: none,
  listOAuthClients: none,
  getOAuthClient: madeClient,
  updateOAuthClient: madeClient,
  deleteOAuthClient: madeClient,
  rotateOAuthClientSecret: madeClient,
  deleteRotatedOAuthClientSecret: rotatedClient,
  listAuditLogs: none,
  exportAuditLogs: none,
  listAccounts: none,
  getAccount: none,
  listAttention: none,
  getOverview: none,
  updateAccount: none,
  createMember: none,
  reinviteMember: invitedMember,
  getUser: person,
  listSessions: session,
  deleteSessions: session,
  deleteSession: session,
  listMemberships: person,
  getMembership: membership,
  updateMembership: pendingMembership,
  deleteMembership: membership,
  listUserGrants: person,
  deleteUserGrant: personsGrant,
  listClientGrants: clientsGrant,
  deleteClientGrants: clientsGrant,
  deleteClientGrant: clientsGrant,
  listAuthorizationEvents: clientsEvent,
  listAccountGrants: accountsGrant,
  getAccountGrant: accountsGrant,
  deleteAccountGrant: accountsGrant,
  listMembers: madeMember,
  getMember: madeMember,
  updateMember: madeMember,
  deleteMember: madeMember,
  signMemberOut: madeMember,
  listRoles: none,
  getRole: () => ({ params: { role_id: roles[0]!.id } }),
  verifyToken: none,
  listPermissionGroups: none,
  createToken: none,
  listTokens: none,
  getToken: madeToken,
  updateToken: madeToken,
  deleteToken: madeToken,
  rollToken: madeToken,
  listTokenBudgets: limitedToken,
  resetTokenBudget: limitedToken,
  listProviders: none,
  testProvider: knownProvider,
  listUserTokens: person,
  deleteUserToken: ownToken,
  listUserTokenBudgets: ownToken,
  createGateway: none,
  listGateways: none,
  getGateway: madeGateway,
  listGatewayRateLimits: madeGateway,
  getStoredResponses: madeGateway,
  deleteStoredResponses: madeGateway,
  listGatewayBudgets: madeBudget,
  resetGatewayBudget: madeBudget,
  updateGateway: madeGateway,
  deleteGateway: madeGateway,
  getProviderUrl: async api => ({ params: { ...(await madeGateway(api)).params, provider: 'openai' } }),
  createProviderConfig: madeGateway,
  listProviderConfigs: madeConfig,
  deleteProviderConfig: madeConfig,
  createCustomProvider: none,
  listCustomProviders: none,
  getCustomProvider: madeProvider,
  updateCustomProvider: madeProvider,
  deleteCustomProvider: madeProvider,
  createDynamicRoute: madeGateway,
  listDynamicRoutes: madeGateway,
  getDynamicRoute: madeRoute,
  updateDynamicRoute: madeRoute,
  deleteDynamicRoute: madeRoute,
  createRouteVersion: madeRoute,
  listRouteVersions: madeRoute,
  getRouteVersion: madeRoute,
  createRouteDeployment: madeRoute,
  listRouteDeployments: madeRoute,
  createBudgetAlert: madeGateway,
  listBudgetAlerts: madeAlert,
  updateBudgetAlert: madeAlert,
  deleteBudgetAlert: madeAlert,
  rotateBudgetAlertSecret: madeAlert,
  testBudgetAlert: madeAlert,
  createGatewayPolicy: madeGateway,
  listGatewayPolicies: madePolicy,
  getGatewayPolicy: madePolicy,
  updateGatewayPolicy: madePolicy,
  deleteGatewayPolicy: madePolicy,
  getPolicyDraft: madePolicy,
  discardPolicyDraft: madePolicy,
  commitPolicies: madePolicy,
  listPolicyCommits: committedPolicy,
  rollBackPolicies: committedPolicy,
  listPolicyBudgets: committedPolicy,
  simulatePolicies: madePolicy,
  listLogs: keptLog,
  deleteLogs: keptLog,
  sumLogs: keptLog,
  tailLogs: keptLog,
  getLogSeries: keptLog,
  getLog: keptLog,
  editLog: keptLog,
  getLogRequest: keptLog,
  getLogResponse: keptLog,
  getLogProviderResponse: keptLog,
  listErrorRules: madeRule('ErrorRule'),
  createErrorRule: withoutRules,
  reorderErrorRules: keptRule('error'),
  updateErrorRule: madeRule('ErrorRule'),
  deleteErrorRule: madeRule('ErrorRule'),
  listErrorPages: madePage,
  getErrorPage: madePage,
  setErrorPage: madePage,
  deleteErrorPage: madePage,
  previewError: none,
  listAccessRules: madeRule('AccessRule'),
  createAccessRule: withoutRules,
  reorderAccessRules: keptRule('access'),
  updateAccessRule: madeRule('AccessRule'),
  deleteAccessRule: madeRule('AccessRule'),
  listZones: none,
  listZoneErrors: none,
  listRateLimits: none,
  listMcpRoutes: none,
  listErrorRuleHits: none,
  listAccessRuleHits: none,
  listAccountErrors: none,
  getZone: none,
  listCertificates: none,
  listOrigins: none,
  explainRequest: none,
  listOAuthScopes: none,
  getOpenApi: none,
  getHome: none,
  isAlive: none,
  isReady: none,
  getMetrics: none,
  listErrors: none,
  getError: () => ({ params: { code: '522' } }),
  listGuides: none,
  showGuide: () => ({ params: { guide: 'configuration' } }),
  listOperations: none,
  showOperation: () => ({ params: { operation: 'createToken' } }),
}

async function madeToken(api: Api): Promise<Ask> {
  const { json } = await ask(api, 'createToken', { body: exampleOf('createToken') })
  return { params: { token_id: json.result.id } }
}

/** A token that acts for a person, beside whom there is another super administrator. */
async function person(api: Api): Promise<Ask> {
  const { value } = await keepPerson(api)
  return { token: value }
}

async function keepPerson(api: Api) {
  await keepMember(api.kept, [role.super])
  return keepAccess(api.kept, { now: api.clock.now() })
}

function knownProvider({ providersGiven }: Api): Ask {
  providersGiven.configure({ openai: { url: 'http://127.0.0.1:1/v1' } })
  return { params: { provider_id: 'openai' } }
}

export async function ownToken(api: Api): Promise<Ask> {
  const { value, user, member } = await keepPerson(api)
  const owned = { user: user.id, email: user.email, member: member.id }
  const { token } = tokenWith({ account: member.account, person: owned })
  await api.kept.tokens.insert(token)
  return { token: value, params: { token_id: token.id } }
}

async function session(api: Api): Promise<Ask> {
  const { value, user } = await keepPerson(api)
  const proof = { method: 'password', secondFactor: true, at: api.clock.now() } as const
  const visit = { address: '192.0.2.1', userAgent: 'a browser', ray: '' }
  const { session } = await new Sessions(api.kept, api.clock).begin(user, proof, visit)
  return { token: value, params: { session_id: session.id } }
}

async function membership(api: Api): Promise<Ask> {
  const { value, member } = await keepPerson(api)
  return { token: value, params: { membership_id: member.id } }
}

/** An invitation of a person to another account. */
export async function pendingMembership(api: Api): Promise<Ask> {
  const { value, user } = await keepPerson(api)
  const kept = (await api.kept.users.get(everybody, user.id))!
  await api.kept.users.replace({ ...user, emailVerifiedAt: 1 }, kept.version)
  const elsewhere = await api.addAccount('elsewhere')
  const member = memberWith(user, [role.reader], { account: elsewhere, status: 'pending' })
  await api.kept.members.insert(member)
  return { token: value, params: { membership_id: member.id } }
}

async function personsGrant(api: Api): Promise<Ask> {
  const { value, grant } = await keepPerson(api)
  return { token: value, params: { grant_id: grant.id } }
}

async function accountsGrant(api: Api): Promise<Ask> {
  const { params } = await personsGrant(api)
  return { params: params! }
}

async function clientsGrant(api: Api): Promise<Ask> {
  const { grant, client } = await keepPerson(api)
  return { params: { grant_id: grant.id, client_id: client.id } }
}

async function clientsEvent(api: Api): Promise<Ask> {
  const { client, user } = await keepPerson(api)
  await api.kept.authorizationEvents.append({
    id: randomBytes(16).toString('hex'),
    client: client.id,
    clientAccount: client.account,
    at: api.clock.now(),
    step: 'token',
    result: 'failure',
    error: 'invalid_grant',
    reason: 'PKCE verifier does not match',
    user: user.id,
    account: client.account,
    address: '192.0.2.1',
    ray: '0'.repeat(16),
    isUnproven: false,
  })
  return { params: { client_id: client.id } }
}

export async function invitedMember(api: Api): Promise<Ask> {
  const { member } = await keepMember(api.kept, [role.gateways], { status: 'pending' })
  return { params: { member_id: member.id } }
}

export async function madeMember(api: Api): Promise<Ask> {
  const { member } = await keepMember(api.kept, [role.gateways])
  return { params: { member_id: member.id } }
}

export async function madeGateway(api: Api): Promise<Ask> {
  const id = randomBytes(8).toString('hex')
  await ask(api, 'createGateway', { body: { id } })
  return { params: { gateway_id: id } }
}

async function madeBudget(api: Api): Promise<Ask> {
  const id = randomBytes(8).toString('hex')
  const rules = [
    { id: 'month', limit: 1, limitType: 'cost', window: 'month' },
    { id: 'each', limit: 1000, limitType: 'tokens', window: 60, token: { mode: 'partition' } },
  ]
  await ask(api, 'createGateway', { body: { id, spend_limits: { rules } } })
  return { params: { gateway_id: id, budget_id: 'month' } }
}

async function limitedToken(api: Api): Promise<Ask> {
  const { json } = await ask(api, 'createToken', { body: exampleOf('createToken') })
  const { id, spend_limits } = json.result
  return { params: { token_id: id, budget_id: spend_limits.rules[0].id } }
}

async function madeConfig(api: Api): Promise<Ask> {
  const { params } = await madeGateway(api)
  const body = exampleOf('createProviderConfig', 0)
  const { json } = await ask(api, 'createProviderConfig', { params: params!, body })
  return { params: { ...params, config_id: json.result.id } }
}

async function madeProvider(api: Api): Promise<Ask> {
  const slug = randomBytes(8).toString('hex')
  await ask(api, 'createCustomProvider', { body: { name: 'Mine', slug, base_url: 'https://llm.example/v1' } })
  return { params: { slug } }
}

/** Makes a route, with a version that has the id of the example. */
async function madeRoute(api: Api): Promise<Ask> {
  const { params } = await madeGateway(api)
  const body = exampleOf('createDynamicRoute', 0)
  const { json } = await ask(api, 'createDynamicRoute', { params: params!, body })
  const owner = routeOwner({ account, id: params!.gateway_id! })
  const { record, version } = (await api.kept.modelRoutes.get(owner, json.result.id))!
  const { version_id: id } = exampleOf('createRouteDeployment', 0) as { version_id: string }
  const another = { ...record.versions[0]!, id }
  await api.kept.modelRoutes.replace({ ...record, versions: [...record.versions, another] }, version)
  return { params: { ...params, route_id: record.id, version_id: id } }
}

async function madeAlert(api: Api): Promise<Ask> {
  const { params } = await madeGateway(api)
  const body = exampleOf('createBudgetAlert', 0)
  const { json } = await ask(api, 'createBudgetAlert', { params: params!, body })
  return { params: { ...params, alert_id: json.result.id } }
}

async function madePolicy(api: Api): Promise<Ask> {
  const { params } = await madeGateway(api)
  const body = exampleOf('createGatewayPolicy', 0)
  const { json } = await ask(api, 'createGatewayPolicy', { params: params!, body })
  return { params: { ...params, policy_id: json.result.id } }
}

/** Commits a policy, under the id of the example. */
async function committedPolicy(api: Api): Promise<Ask> {
  const policy = await madePolicy(api)
  await ask(api, 'commitPolicies', policy)
  const owner = routeOwner({ account, id: policy.params!.gateway_id! })
  const { record, version } = (await api.kept.policySets.get(owner, policySetId))!
  const { to: id } = exampleOf('rollBackPolicies', 0) as { to: string }
  await api.kept.policySets.replace({ ...record, commits: [{ ...record.commits[0]!, id }] }, version)
  return policy
}

/** Makes a client: of the first example with a secret, of the second without. */
export async function madeClient(api: Api, example = 0): Promise<Ask> {
  const { json } = await ask(api, 'createOAuthClient', { body: exampleOf('createOAuthClient', example) })
  return { params: { client_id: json.result.client_id } }
}

export async function rotatedClient(api: Api): Promise<Ask> {
  const client = await madeClient(api)
  await ask(api, 'rotateOAuthClientSecret', client)
  return client
}

async function keptLog({ kept }: Api): Promise<Ask> {
  const whole = { text: '{"model":"gpt-5"}', isCut: false }
  await keepEntries(kept, [
    entryWith(1, { request: whole, response: whole, providerResponse: whole, metadata: { team: 'blue' } }),
  ])
  return { params: logParams }
}

/** Forgets the rules of the zone first, since there can be so many. */
function madeRule(kind: 'ErrorRule' | 'AccessRule') {
  return async (api: Api): Promise<Ask> => {
    await withoutRules(api)
    const { json } = await ask(api, `create${kind}`, { body: exampleOf(`create${kind}`) })
    return { params: { rule_id: json.result.id } }
  }
}

/** Makes the rule of which the example of another order has the id. */
function keptRule(kind: 'error' | 'access') {
  return async (api: Api): Promise<Ask> => {
    await withoutRules(api)
    await api.kept[`${kind}Rules`].insert(listOf(kind, 1) as never)
    return {}
  }
}

async function withoutRules({ kept }: Api): Promise<Ask> {
  for (const records of [kept.errorRules, kept.accessRules]) await records.remove(zoneOwner, 'main')
  return {}
}

/** So many rules of the zone, the first with the id of the example. */
export function listOf(kind: 'error' | 'access', count: number) {
  const rules = Array.from({ length: count }, (_, i) => ({
    ...(kind === 'error'
      ? { expression: 'true', content: 'x', contentType: 'text/plain', status: null }
      : { action: 'deny', condition: { kind: 'path', prefixes: ['/x'] } }),
    id: i === 0 ? '0123456789abcdef0123456789abcdef' : randomBytes(16).toString('hex'),
    description: null,
  }))
  return { account: zoneOwner, id: 'main', rules, createdAt: 0, modifiedAt: 0 }
}

async function madePage(api: Api): Promise<Ask> {
  const page = { params: { page_type: 'waf_block' } }
  await ask(api, 'setErrorPage', { ...page, body: exampleOf('setErrorPage') })
  return page
}
