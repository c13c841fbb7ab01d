// Validates the body of an OAuth client, for creation and for changes.

import type { OAuthScope } from '../../permissions/scopes.ts'
import type { ClientSettings } from '../../oauth/clients/client.ts'
import { clientNameFault } from '../../oauth/clients/client-name.ts'
import { originFault, pageUriFault, redirectUriFault } from '../../oauth/clients/uri-rules.ts'
import { hostFault, hostOf } from '../../domains/host.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { OAuthClient, TokenEndpointAuthMethod } from '../../store/records/oauth-client.ts'
import { readGrants } from './grant-types.ts'
import { Field } from '../http/field.ts'
import { readList } from '../http/text-list.ts'

/** The settings as they are to be; refused members are as before. */
export interface ClientChange {
  readonly settings: ClientSettings
  readonly visibility: OAuthClient['visibility'] | null
  /** Whether the body contains client_uri: repeating it requests a new DNS check. */
  readonly setsClientUri: boolean
  /** All mistakes in it; rules across members apply to the result of the body and the stored client. */
  readonly faults: readonly Fault[]
}

/** The members that every client has, and those that null clears. */
const requiredMembers = [
  'client_name',
  'grant_types',
  'redirect_uris',
  'response_types',
  'scopes',
  'token_endpoint_auth_method',
] as const
export const clearableMembers = [
  'optional_scopes',
  'post_logout_redirect_uris',
  'allowed_cors_origins',
  'logo_uri',
  'policy_uri',
  'tos_uri',
  'client_uri',
] as const

export const authMethods = [
  'client_secret_basic',
  'client_secret_post',
  'none',
] as const satisfies readonly TokenEndpointAuthMethod[]
export const maxUris = 20

const owned = [
  'client_id',
  'client_secret',
  'client_secrets',
  'has_rotated_secret',
  'client_uri_verification',
  'created_at',
  'updated_at',
  'promoted_at',
] as const

const settable = [...requiredMembers, ...clearableMembers] as const
type Members = Readonly<Record<(typeof settable)[number], Field>>

/** Its method allows most, so that no fault is reported by mistake. */
const blank: ClientSettings = {
  name: '',
  grantTypes: [],
  responseTypes: [],
  tokenEndpointAuthMethod: 'none',
  redirectUris: [],
  postLogoutRedirectUris: [],
  allowedCorsOrigins: [],
  scopes: [],
  optionalScopes: [],
  logoUri: null,
  policyUri: null,
  tosUri: null,
  clientUri: null,
}

/** `all` are the scopes that exist. */
export function readNewClient(body: unknown, all: readonly OAuthScope[]): ClientSettings | readonly Fault[] {
  const faults: Fault[] = []
  const members = new Field(body, faults).members(requiredMembers, [
    ...clearableMembers,
    ...owned,
    'visibility',
  ])
  if (members.visibility.value !== undefined)
    members.visibility.refuse(
      'is set by the server: a new client is private until a PATCH publishes it',
      'owned',
    )
  const settings = readMembers(members, blank, all)
  return faults.length > 0 ? faults : settings
}

export function readClientChange(
  body: unknown,
  current: ClientSettings,
  all: readonly OAuthScope[],
): ClientChange {
  const faults: Fault[] = []
  const members = new Field(body, faults).members([], [...settable, ...owned, 'visibility'])
  const settings = readMembers(members, current, all)
  const visibility = members.visibility.oneOf(['private', 'public'])
  return { settings, visibility, setsClientUri: members.client_uri.value !== undefined, faults }
}

function readMembers(
  members: Members & Readonly<Record<(typeof owned)[number], Field>>,
  current: ClientSettings,
  all: readonly OAuthScope[],
): ClientSettings {
  for (const name of owned)
    if (members[name].value !== undefined) members[name].refuse('is set by the server', 'owned')
  for (const name of requiredMembers)
    if (members[name].value === null) members[name].refuse('is required, so it cannot be null')
  return {
    ...readTexts(members, current),
    ...readUris(members, current),
    ...readGrants(members, current, all),
  }
}

function readTexts(members: Members, current: ClientSettings) {
  return {
    name: members.client_name.ruled(clientNameFault) ?? current.name,
    logoUri: clearable(members.logo_uri, current.logoUri, pageUriFault),
    policyUri: clearable(members.policy_uri, current.policyUri, pageUriFault),
    tosUri: clearable(members.tos_uri, current.tosUri, pageUriFault),
    clientUri: clearable(
      members.client_uri,
      current.clientUri,
      uri => pageUriFault(uri) ?? hostFault(hostOf(uri)),
    ),
  }
}

function clearable(field: Field, current: string | null, faultOf: (text: string) => string | null) {
  if (field.value === undefined) return current
  return field.value === null ? null : (field.ruled(faultOf) ?? current)
}

function readUris(members: Members, current: ClientSettings) {
  const { redirect_uris, post_logout_redirect_uris, allowed_cors_origins } = members
  const method = readMethod(members, current)
  const faultOf = (uri: string) => redirectUriFault(uri, method)
  return {
    tokenEndpointAuthMethod: method,
    redirectUris: readList(redirect_uris, 1, maxUris, current.redirectUris, faultOf),
    postLogoutRedirectUris: readList(
      post_logout_redirect_uris,
      0,
      maxUris,
      current.postLogoutRedirectUris,
      faultOf,
    ),
    allowedCorsOrigins: readList(allowed_cors_origins, 0, maxUris, current.allowedCorsOrigins, originFault),
  }
}

/** Reads the method, and checks that existing URIs that the body does not replace are allowed under it. */
function readMethod(members: Members, current: ClientSettings): TokenEndpointAuthMethod {
  const { token_endpoint_auth_method, redirect_uris, post_logout_redirect_uris } = members
  const before = current.tokenEndpointAuthMethod
  if (token_endpoint_auth_method.value === undefined) return before
  const method = token_endpoint_auth_method.oneOf(authMethods) ?? 'none'
  const staying = [
    ['redirect_uris', redirect_uris, current.redirectUris],
    ['post_logout_redirect_uris', post_logout_redirect_uris, current.postLogoutRedirectUris],
  ] as const
  for (const [name, { value }, uris] of staying)
    if (value === undefined && uris.some(uri => redirectUriFault(uri, method) !== null))
      token_endpoint_auth_method.refuse(`must be none while ${name} has a URI with an app scheme`)
  return method
}
