// Every scope that a client can ask for: those of identity, and one for each permission.

import { memoizeEach } from '../base/memo.ts'
import type { ScopeConfig } from '../config/model/scope-config.ts'
import { permissions } from './permissions.ts'
import type { GrantType } from '../store/records/oauth-client.ts'

export interface OAuthScope {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly description: string
  readonly scopes: readonly string[]
  /** About the user, and opens nothing of an account. */
  readonly isIdentity: boolean
  /** For routes of the operator; absent for false. Neither does it open anything of an account. */
  readonly isOwn?: boolean
}

const refreshing = 'offline_access'
const ofUser = { category: 'identity', scopes: ['svc.api.user'], isIdentity: true } as const

export const identityScopes: readonly OAuthScope[] = [
  { id: 'openid', name: 'OpenID', description: 'Tell who the user is by an id token.', ...ofUser },
  {
    id: 'email',
    name: 'Email',
    description: 'See the email address of the user, once it is verified.',
    ...ofUser,
  },
  { id: 'profile', name: 'Profile', description: 'See the name of the user.', ...ofUser },
  {
    id: refreshing,
    name: 'Offline Access',
    description: 'Stay authorized while the user is away, by refresh tokens.',
    ...ofUser,
  },
  { id: 'user.read', name: 'User Read', description: 'See who the user is.', ...ofUser },
  {
    id: 'memberships.read',
    name: 'Memberships Read',
    description: 'See the accounts of the user and the invitations to others.',
    ...ofUser,
  },
  {
    id: 'memberships.write',
    name: 'Memberships Write',
    description: 'Accept and decline invitations, and leave accounts, for the user.',
    ...ofUser,
  },
  {
    id: 'user_access.read',
    name: 'User Access Read',
    description: 'See where the user is signed in, and which apps may act for them.',
    ...ofUser,
  },
  {
    id: 'user_access.write',
    name: 'User Access Write',
    description: 'Sign the user out, and end what apps may do for them.',
    ...ofUser,
  },
]

/** Where less than the permission: an app can do nothing that would outlast what its user allowed. */
const ofApps: Readonly<Record<string, string>> = {
  'oauth_clients.write':
    'See and delete OAuth clients, delete the older of two secrets, and end what users allowed them. An app cannot create or change clients.',
  'api_tokens.write':
    'See and delete API tokens that allow no more than the app. An app cannot create, change or roll them.',
  'members.write':
    'See, sign out and remove members, and end what they allowed apps to do. An app cannot invite members or change their roles.',
  'ai_gateway.edit':
    'See, create, change and delete AI gateways, and delete their logs. An app cannot turn off their authentication.',
  'account_settings.write': 'Nothing: an app cannot change the settings of an account.',
}

/** Identity first, then in the order of the permissions. */
export const oauthScopes: readonly OAuthScope[] = [
  ...identityScopes,
  ...permissions.map(({ scope, name, category, description, scopes }) => ({
    id: scope,
    name,
    category,
    description: ofApps[scope] ?? description,
    scopes,
    isIdentity: false,
  })),
]

/** Returns all scopes: those of this gateway, then those that the operator defines. */
export const scopesWith = memoizeEach((own: readonly ScopeConfig[]): readonly OAuthScope[] => [
  ...oauthScopes,
  ...own.map(({ id, description }) => ({
    ...{ id, name: nameOf(id), category: 'own', description, scopes: ['svc.api.user'] },
    ...{ isIdentity: false, isOwn: true },
  })),
])

/** As the names of the others are. */
function nameOf(id: string): string {
  const words = id.split(/[._]/)
  return words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join(' ')
}

/** What `user.read` includes, by the names of OpenID Connect (Core section 5.4). */
const ofUserRead: readonly string[] = ['email', 'profile']

/** Returns the scopes and what they include. */
export function withIncluded(scopes: readonly string[]): readonly string[] {
  return scopes.includes('user.read') ? [...new Set([...scopes, ...ofUserRead])] : scopes
}

/** Whether a client that has registered these scopes lets people decline one. */
export function isOptional(
  scope: string,
  registered: { readonly scopes: readonly string[]; readonly optionalScopes: readonly string[] },
): boolean {
  const { scopes, optionalScopes } = registered
  if (scopes.includes(scope)) return optionalScopes.includes(scope)
  return withIncluded(optionalScopes).includes(scope)
}

/** Puts `offline_access` last if the client may use refresh tokens, and removes it otherwise. */
export function withProtocolScopes(scopes: readonly string[], grantTypes: readonly GrantType[]): string[] {
  if (!grantTypes.includes('refresh_token')) return scopes.filter(scope => scope !== refreshing)
  return scopes.includes(refreshing) ? [...scopes] : [...scopes, refreshing]
}
