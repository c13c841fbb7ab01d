// The flows and scopes that an OAuth client may use: grant types, response types and scopes.

import type { ClientSettings } from '../../oauth/clients/client.ts'
import { type OAuthScope, withProtocolScopes } from '../../permissions/scopes.ts'
import type { GrantType } from '../../store/records/oauth-client.ts'
import type { Field } from '../http/field.ts'
import { distinct, readList, textsOf } from '../http/text-list.ts'

export const grantTypes = ['authorization_code', 'refresh_token'] as const satisfies readonly GrantType[]

type GrantMembers = Readonly<Record<'grant_types' | 'response_types' | 'scopes' | 'optional_scopes', Field>>

/** How many elements of a short list are checked, so that each wrong one is named. */
const maxNamed = 20

/** Reads the given members; others stay as stored, except the scope that follows refresh_token. */
export function readGrants(members: GrantMembers, current: ClientSettings, all: readonly OAuthScope[]) {
  const { grant_types, response_types, scopes, optional_scopes } = members
  const grants = readGrantTypes(grant_types) ?? current.grantTypes
  const wanted = readScopes(scopes, all) ?? current.scopes
  const isSame = grant_types.value === undefined && scopes.value === undefined
  return {
    grantTypes: grants,
    responseTypes: readResponseTypes(response_types) ?? current.responseTypes,
    scopes: isSame ? current.scopes : withProtocolScopes(wanted, grants),
    optionalScopes: readOptionalScopes(optional_scopes, scopes, wanted, current.optionalScopes, all),
  }
}

function readGrantTypes(field: Field): readonly GrantType[] | null {
  if (field.value === undefined) return null
  const items = distinct(field.items(1, maxNamed))
  const grants = items.flatMap(item => grantTypes.find(grant => grant === item.value) ?? [])
  for (const item of items)
    if (!grantTypes.some(grant => grant === item.value))
      item.refuse(`cannot be ${quote(item.value)}: ${onlyCode}`)
  if (!grants.includes('authorization_code')) field.refuse(`must include authorization_code: ${onlyCode}`)
  return grants
}

function readResponseTypes(field: Field): readonly 'code'[] | null {
  if (field.value === undefined) return null
  for (const item of distinct(field.items(1, maxNamed)))
    if (item.value !== 'code')
      item.refuse(
        `cannot be ${quote(item.value)}: only the Authorization Code flow is supported, whose response type is code`,
      )
  return ['code']
}

function readScopes(field: Field, all: readonly OAuthScope[]): readonly string[] | null {
  if (field.value === undefined) return null
  const scopes = textsOf(distinct(field.items(1, all.length)), scope => scopeFault(scope, all))
  if (scopes.length > 0 && scopes.every(scope => scope === 'offline_access'))
    field.refuse('must include a scope other than offline_access')
  return scopes
}

function readOptionalScopes(
  field: Field,
  scopesField: Field,
  scopes: readonly string[],
  current: readonly string[],
  all: readonly OAuthScope[],
) {
  if (field.value === undefined) {
    const stray = current.find(scope => !scopes.includes(scope))
    if (stray !== undefined) scopesField.refuse(`must include ${stray}, since optional_scopes does`)
    return current
  }
  return readList(field, 0, all.length, current, scope => {
    if (neverOptional.includes(scope)) return `cannot be ${scope}: users cannot decline it`
    return scopes.includes(scope) ? null : 'must also be in scopes'
  })
}

function scopeFault(scope: string, all: readonly OAuthScope[]): string | null {
  if (all.some(({ id }) => id === scope)) return null
  return scope.includes(':')
    ? 'must be a scope id, written with dots instead of colons: see /client/v4/oauth/scopes'
    : 'must be a scope id: see /client/v4/oauth/scopes'
}

function quote(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : 'anything but a string'
}

const onlyCode =
  'only the Authorization Code flow is supported: use authorization_code, optionally with refresh_token'
const neverOptional: readonly string[] = ['openid', 'offline_access']
