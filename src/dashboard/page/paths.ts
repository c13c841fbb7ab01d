// The paths of the pages. Below `/dashboard` all is ours, and nothing else.

import { ownTokensOf, paths as ownPaths } from '../../pages/parts/paths.ts'

const root = ownPaths.dashboard

/** Returns a path below an account; each step is encoded, wherever it comes from. */
function at(account: string, ...steps: readonly string[]): string {
  return [root, account, ...steps].map((step, i) => (i === 0 ? step : encodeURIComponent(step))).join('/')
}

export const paths = {
  root,
  assets: `${root}/assets`,
  home: (account: string) => at(account),
  hideFirstSteps: (account: string) => at(account, 'first-steps', 'hide'),
  find: (account: string) => at(account, 'find'),
  guide: (account: string, name: string) => at(account, 'docs', name),
  apiDocs: (account: string, place?: string) =>
    at(account, 'docs', 'api') + (place === undefined ? '' : `#${place}`),
  errors: (account: string) => at(account, 'errors'),
  errorCodes: (account: string) => at(account, 'errors', 'codes'),
  errorCode: (account: string, code: string) => at(account, 'errors', 'codes', code),
  errorPreview: (account: string, zone: string, code: string) =>
    at(account, 'errors', 'zones', zone, 'codes', code, 'preview'),
  errorZone: (account: string, zone: string) => at(account, 'errors', 'zones', zone),
  newErrorRule: (account: string, zone: string) => at(account, 'errors', 'zones', zone, 'rules', 'new'),
  orderErrorRules: (account: string, zone: string) => at(account, 'errors', 'zones', zone, 'rules', 'order'),
  errorRule: (account: string, zone: string, rule: string) =>
    at(account, 'errors', 'zones', zone, 'rules', rule),
  editErrorRule: (account: string, zone: string, rule: string) =>
    at(account, 'errors', 'zones', zone, 'rules', rule, 'edit'),
  deleteErrorRule: (account: string, zone: string, rule: string) =>
    at(account, 'errors', 'zones', zone, 'rules', rule, 'delete'),
  errorPage: (account: string, zone: string, type: string) =>
    at(account, 'errors', 'zones', zone, 'pages', type),
  errorPagePreview: (account: string, zone: string, type: string) =>
    at(account, 'errors', 'zones', zone, 'pages', type, 'preview'),
  editErrorPage: (account: string, zone: string, type: string) =>
    at(account, 'errors', 'zones', zone, 'pages', type, 'edit'),
  deleteErrorPage: (account: string, zone: string, type: string) =>
    at(account, 'errors', 'zones', zone, 'pages', type, 'delete'),
  audit: (account: string) => at(account, 'audit'),
  auditExport: (account: string) => at(account, 'audit', 'export'),
  tokens: (account: string) => at(account, 'tokens'),
  newToken: (account: string) => at(account, 'tokens', 'new'),
  token: (account: string, token: string) => at(account, 'tokens', token),
  editToken: (account: string, token: string) => at(account, 'tokens', token, 'edit'),
  tokenState: (account: string, token: string) => at(account, 'tokens', token, 'state'),
  rollToken: (account: string, token: string) => at(account, 'tokens', token, 'roll'),
  revokeToken: (account: string, token: string) => at(account, 'tokens', token, 'revoke'),
  tokenBudgets: (account: string, token: string, ...below: readonly string[]) =>
    at(account, 'tokens', token, 'budgets', ...below),
  ownTokens: ownTokensOf,
  newOwnToken: (account: string) => at(account, 'your-tokens', 'new'),
  revokeOwnToken: (account: string, token: string) => at(account, 'your-tokens', token, 'revoke'),
  members: (account: string) => at(account, 'members'),
  newMember: (account: string) => at(account, 'members', 'new'),
  twoFactor: (account: string) => at(account, 'members', 'two-factor'),
  unregisteredApps: (account: string) => at(account, 'apps', 'unregistered'),
  member: (account: string, member: string) => at(account, 'members', member),
  memberRoles: (account: string, member: string) => at(account, 'members', member, 'roles'),
  memberLink: (account: string, member: string) => at(account, 'members', member, 'link'),
  signMemberOut: (account: string, member: string) => at(account, 'members', member, 'sign-out'),
  removeMember: (account: string, member: string) => at(account, 'members', member, 'remove'),
  apps: (account: string) => at(account, 'apps'),
  endApp: (account: string, grant: string) => at(account, 'apps', grant, 'end'),
  clients: (account: string) => at(account, 'oauth-clients'),
  newClient: (account: string) => at(account, 'oauth-clients', 'new'),
  newClientScopes: (account: string) => at(account, 'oauth-clients', 'new', 'scopes'),
  client: (account: string, client: string) => at(account, 'oauth-clients', client),
  editClient: (account: string, client: string) => at(account, 'oauth-clients', client, 'edit'),
  clientScopes: (account: string, client: string) => at(account, 'oauth-clients', client, 'scopes'),
  newSecret: (account: string, client: string) => at(account, 'oauth-clients', client, 'secrets', 'new'),
  dropSecret: (account: string, client: string) => at(account, 'oauth-clients', client, 'secrets', 'drop'),
  verifyClient: (account: string, client: string) => at(account, 'oauth-clients', client, 'verify'),
  publishClient: (account: string, client: string) => at(account, 'oauth-clients', client, 'publish'),
  deleteClient: (account: string, client: string) => at(account, 'oauth-clients', client, 'delete'),
  clientEvents: (account: string, client: string) => at(account, 'oauth-clients', client, 'events'),
  clientGrants: (account: string, client: string) => at(account, 'oauth-clients', client, 'grants'),
  endClientGrants: (account: string, client: string) => at(account, 'oauth-clients', client, 'grants', 'end'),
  endClientGrant: (account: string, client: string, grant: string) =>
    at(account, 'oauth-clients', client, 'grants', grant, 'end'),
  zones: (account: string) => at(account, 'zones'),
  zone: (account: string, zone: string) => at(account, 'zones', zone),
  zoneLimits: (account: string, zone: string) => at(account, 'zones', zone, 'limits'),
  zoneCertificates: (account: string, zone: string) => at(account, 'zones', zone, 'certificates'),
  zoneMcp: (account: string, zone: string) => at(account, 'zones', zone, 'mcp'),
  zoneOrigins: (account: string, zone: string) => at(account, 'zones', zone, 'origins'),
  explain: (account: string, zone: string) => at(account, 'zones', zone, 'explain'),
  accessRules: (account: string, zone: string) => at(account, 'zones', zone, 'rules'),
  newAccessRule: (account: string, zone: string) => at(account, 'zones', zone, 'rules', 'new'),
  accessRuleOrder: (account: string, zone: string) => at(account, 'zones', zone, 'rules', 'order'),
  accessRule: (account: string, zone: string, rule: string) => at(account, 'zones', zone, 'rules', rule),
  deleteAccessRule: (account: string, zone: string, rule: string) =>
    at(account, 'zones', zone, 'rules', rule, 'delete'),
  gateways: (account: string) => at(account, 'gateways'),
  newGateway: (account: string) => at(account, 'gateways', '~new'),
  gateway: (account: string, gateway: string) => at(account, 'gateways', gateway),
  gatewaySettings: (account: string, gateway: string) => at(account, 'gateways', gateway, 'settings'),
  storedResponses: (account: string, gateway: string) => at(account, 'gateways', gateway, 'responses'),
  guard: (account: string, gateway: string) => at(account, 'gateways', gateway, 'guard'),
  gatewayAuthentication: (account: string, gateway: string) =>
    at(account, 'gateways', gateway, 'authentication'),
  newGatewayToken: (account: string, gateway: string) => at(account, 'gateways', gateway, 'tokens', 'new'),
  testGateway: (account: string, gateway: string) => at(account, 'gateways', gateway, 'test'),
  providerKeys: (account: string, gateway: string) => at(account, 'gateways', gateway, 'keys'),
  newProviderKey: (account: string, gateway: string) => at(account, 'gateways', gateway, 'keys', 'new'),
  deleteProviderKey: (account: string, gateway: string, key: string) =>
    at(account, 'gateways', gateway, 'keys', key, 'delete'),
  modelRoutes: (account: string, gateway: string) => at(account, 'gateways', gateway, 'routes'),
  newModelRoute: (account: string, gateway: string) => at(account, 'gateways', gateway, 'routes', 'new'),
  modelRoute: (account: string, gateway: string, route: string) =>
    at(account, 'gateways', gateway, 'routes', route),
  editModelRoute: (account: string, gateway: string, route: string) =>
    at(account, 'gateways', gateway, 'routes', route, 'edit'),
  deployModelRoute: (account: string, gateway: string, route: string, version: string) =>
    at(account, 'gateways', gateway, 'routes', route, 'versions', version),
  deleteModelRoute: (account: string, gateway: string, route: string) =>
    at(account, 'gateways', gateway, 'routes', route, 'delete'),
  budgets: (account: string, gateway: string, ...below: readonly string[]) =>
    at(account, 'gateways', gateway, 'budgets', ...below),
  policies: (account: string, gateway: string, ...below: readonly string[]) =>
    at(account, 'gateways', gateway, 'policies', ...below),
  deleteGateway: (account: string, gateway: string) => at(account, 'gateways', gateway, 'delete'),
  providers: (account: string) => at(account, 'providers'),
  provider: (account: string, provider: string) => at(account, 'providers', provider),
  testProvider: (account: string, provider: string) => at(account, 'providers', provider, 'test'),
  customProviders: (account: string) => at(account, 'custom-providers'),
  newCustomProvider: (account: string) => at(account, 'custom-providers', '~new'),
  customProviderState: (account: string, slug: string) => at(account, 'custom-providers', slug, 'state'),
  deleteCustomProvider: (account: string, slug: string) => at(account, 'custom-providers', slug, 'delete'),
  logs: (account: string, gateway: string) => at(account, 'gateways', gateway, 'logs'),
  liveLogs: (account: string, gateway: string) => at(account, 'gateways', gateway, 'logs', 'live'),
  charts: (account: string, gateway: string) => at(account, 'gateways', gateway, 'logs', 'charts'),
  log: (account: string, gateway: string, log: string) => at(account, 'gateways', gateway, 'logs', log),
  logFeedback: (account: string, gateway: string, log: string) =>
    at(account, 'gateways', gateway, 'logs', log, 'feedback'),
  logBody: (account: string, gateway: string, log: string, part: string) =>
    at(account, 'gateways', gateway, 'logs', log, part),
} as const

/** Returns a path with a query; empty and null values are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** Whether a path is one of these pages, or would be. */
export function isOfDashboard(path: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}
