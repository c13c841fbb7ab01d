// The scopes that an operator defines for routes of their own.

export interface ScopeConfig {
  readonly id: string
  readonly description: string // what an app may do with it, as people read it before they allow it
}

/** The first parts of the ids that scopes of this gateway have, or may have once. */
export const reservedScopes: readonly string[] = [
  'access_rules',
  'account',
  'account_settings',
  'accounts',
  'address',
  'ai_gateway',
  'analytics',
  'api_tokens',
  'audit_logs',
  'billing',
  'budgets',
  'custom_errors',
  'email',
  'groups',
  'logs',
  'members',
  'memberships',
  'metrics',
  'oauth_clients',
  'offline_access',
  'openid',
  'origins',
  'phone',
  'policies',
  'profile',
  'svc',
  'user',
  'user_access',
  'zones',
]
