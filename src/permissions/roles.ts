// The roles of members, with their permissions. Ids are part of the API and stored: they never change.

import type { RoleName } from '../config/model/protect-config.ts'
import { permissionGroups } from './permission-groups.ts'
import { permissions } from './permissions.ts'
import type { Permission } from './permit.ts'
import { oauthScopes } from './scopes.ts'

interface Role {
  readonly id: string
  readonly name: RoleName
  readonly description: string
  /** One that writes comes with its reading sibling. */
  readonly permissions: readonly Permission[]
}

const all: readonly Permission[] = permissionGroups.map(({ name }) => name)

const superAdministrator: Role = {
  id: '027624bc3ced91111736752f9cb2fea5',
  name: 'Super Administrator - All Privileges',
  description: 'Can do everything in the account, and manage its members and settings.',
  permissions: all,
}

export const roles: readonly Role[] = [
  superAdministrator,
  {
    id: 'cfe51ff0022afc6d02c5291348bedb94',
    name: 'Administrator',
    description:
      'Can do everything in the account, except change its settings, its members and their roles or delete it.',
    permissions: all.filter(name => name !== 'Members Write' && name !== 'Account Settings Write'),
  },
  {
    id: 'd6490098550247d92a2c46179fbb5fd6',
    name: 'OAuth Client Write',
    description: 'Can see, create, change and delete OAuth clients, and rotate their secrets.',
    permissions: ['OAuth Clients Read', 'OAuth Clients Write'],
  },
  {
    id: '2df4e93eae8ce611a2f78624b7528737',
    name: 'AI Gateway Admin',
    description: 'Can call models through AI gateways, and see and change gateways and their logs.',
    permissions: ['AI Gateway Read', 'AI Gateway Edit', 'AI Gateway Run'],
  },
  {
    id: '4e281941e0bcb4cda023d46f7aad55ee',
    name: 'Administrator Read Only',
    description: 'Can see everything in the account, and change nothing.',
    permissions: all.filter(name => name.endsWith(' Read')),
  },
]

export function roleOf(id: string): Role | null {
  return byId.get(id) ?? null
}

/** Returns each name once; unknown ids have none. */
export function roleNamesOf(ids: readonly string[]): readonly RoleName[] {
  return [...new Set(ids.flatMap(id => roleOf(id)?.name ?? []))]
}

export function rolesWith(permission: Permission): readonly string[] {
  return roles
    .filter(({ permissions }) => permissions.includes(permission))
    .map(({ name }) => name.replace(/ - .*$/, ''))
}

export function areSuper(ids: readonly string[]): boolean {
  return ids.includes(superAdministrator.id)
}

/** Returns the ids of the permission groups of these roles together; unknown ids have none. */
export function groupsOfRoles(ids: readonly string[]): ReadonlySet<string> {
  return new Set(ids.flatMap(id => groupsById.get(id) ?? []))
}

/** Returns those that `may` rejects: a person without one can neither give nor take the roles. */
export function permissionsBeyond(
  ids: readonly string[],
  may: (permission: Permission) => boolean,
): Permission[] {
  const given = groupsOfRoles(ids)
  return permissionGroups.filter(({ id, name }) => given.has(id) && !may(name)).map(({ name }) => name)
}

/** In the given order. Scopes of identity are never beyond, unknown ones always. */
export function scopesBeyond(ids: readonly string[], scopes: readonly string[]): string[] {
  const given = groupsOfRoles(ids)
  return scopes.filter(scope => !identity.has(scope) && !given.has(groupOfScope.get(scope) ?? ''))
}

/** Includes the reading siblings of those that write. */
export function groupsOfScopes(scopes: readonly string[]): ReadonlySet<string> {
  return new Set(scopes.flatMap(scope => groupsByScope.get(scope) ?? []))
}

const byId = new Map(roles.map(role => [role.id, role]))
const groupByName = new Map<string, string>(permissions.map(({ id, name }) => [name, id]))
const groupOfScope = new Map<string, string>(permissions.map(({ id, scope }) => [scope, id]))
const identity = new Set(oauthScopes.filter(({ isIdentity }) => isIdentity).map(({ id }) => id))

const groupsById = new Map(
  roles.map(({ id, permissions }) => [id, permissions.map(name => groupByName.get(name)!)]),
)

const groupsByScope = new Map<string, readonly string[]>(
  permissions.map(({ id, scope, name }) => {
    const reading = groupByName.get(name.replace(/ (Write|Edit)$/, ' Read'))
    return [scope, reading === undefined ? [id] : [id, reading]]
  }),
)
