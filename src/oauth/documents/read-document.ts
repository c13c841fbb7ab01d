// Reads the metadata document of an OAuth client (RFC 7591 section 2), whose members are held to the rules
// for clients of our own.

import { clientNameFault } from '../clients/client-name.ts'
import type { ClientSettings } from '../clients/client.ts'
import { pageUriFault, redirectUriFault } from '../clients/uri-rules.ts'
import type { DocumentKey, GrantType } from '../../store/records/oauth-client.ts'

export interface ReadDocument {
  /** Its scopes are those that the document names: null if it names none. */
  readonly settings: Omit<ClientSettings, 'scopes'>
  readonly scopes: readonly string[] | null
  readonly keys: { readonly set: readonly DocumentKey[] } | { readonly uri: string } | null
}

const maxRedirectUris = 20
const maxScopes = 100
const maxKeys = 10

type Members = Readonly<Record<string, unknown>>

/** Returns the document, or the rule that it breaks, as a sentence without a full stop. */
export function readDocument(url: string, body: Buffer): ReadDocument | string {
  const members = membersOf(body)
  if (typeof members === 'string') return members
  try {
    return documentOf(url, members)
  } catch (fault) {
    if (fault instanceof BrokenRule) return fault.message
    throw fault
  }
}

/** Reads a key set (RFC 7517) for ES256; returns the rule that it breaks, as words that follow its name. */
export function readKeys(set: unknown): readonly DocumentKey[] | string {
  const { keys } = isMembers(set) ? set : {}
  if (!Array.isArray(keys) || !keys.every(isMembers)) return 'must be an object with the list `keys`'
  if (keys.length > maxKeys) return `must have at most ${maxKeys} keys`
  if (keys.some(key => 'k' in key || 'd' in key)) return 'must not have private or symmetric keys'
  const usable = keys.filter(isUsable).map(({ kty, crv, x, y, kid }): DocumentKey => {
    return { kty, crv, x, y, ...(typeof kid === 'string' && { kid }) } as DocumentKey
  })
  return usable.length === 0 ? 'must have an EC key on P-256, for ES256' : usable
}

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch {
    return undefined
  }
}

function membersOf(body: Buffer): Members | string {
  const value = parseJson(body)
  if (value === undefined) return 'the document must be JSON in UTF-8'
  return isMembers(value) ? value : 'the document must be a JSON object'
}

class BrokenRule extends Error {}

function documentOf(url: string, members: Members): ReadDocument {
  const { client_id: id } = members
  if (id !== url) refuse('client_id', 'must be the URL of the document, letter for letter')
  for (const name of ['client_secret', 'client_secret_expires_at'])
    if (name in members) refuse(name, 'must be left out, since a document has no secrets')
  const method = text(members, 'token_endpoint_auth_method') ?? 'none'
  if (method !== 'none' && method !== 'private_key_jwt')
    refuse('token_endpoint_auth_method', 'must be none or private_key_jwt')
  const redirectUris = list(members, 'redirect_uris') ?? []
  if (redirectUris.length === 0 || redirectUris.length > maxRedirectUris)
    refuse('redirect_uris', `must have 1 to ${maxRedirectUris} items`)
  for (const [at, uri] of redirectUris.entries()) check(`redirect_uris[${at}]`, redirectUriFault(uri, method))
  const name = text(members, 'client_name') ?? new URL(url).host
  check('client_name', clientNameFault(name))
  const responseTypes = list(members, 'response_types') ?? ['code']
  if (!responseTypes.includes('code')) refuse('response_types', 'must include code')
  const scope = text(members, 'scope')
  return {
    settings: {
      name,
      grantTypes: grantTypesIn(members),
      responseTypes: ['code'],
      tokenEndpointAuthMethod: method,
      redirectUris,
      postLogoutRedirectUris: [],
      allowedCorsOrigins: originsOf(redirectUris),
      optionalScopes: [],
      // A picture could be that of another app, and tells its host of each visitor.
      logoUri: null,
      policyUri: page(members, 'policy_uri'),
      tosUri: page(members, 'tos_uri'),
      clientUri: page(members, 'client_uri'),
    },
    scopes: scope === null ? null : scopesIn(scope),
    keys: method === 'none' ? null : keysIn(members),
  }
}

function keysIn(members: Members): NonNullable<ReadDocument['keys']> {
  const uri = page(members, 'jwks_uri')
  if ((uri === null) === (members.jwks === undefined))
    refuse('token_endpoint_auth_method', 'private_key_jwt needs either jwks or jwks_uri')
  if (uri !== null) return { uri }
  const keys = readKeys(members.jwks)
  if (typeof keys === 'string') refuse('jwks', keys)
  return { set: keys }
}

function grantTypesIn(members: Members): readonly GrantType[] {
  const named = list(members, 'grant_types') ?? ['authorization_code']
  if (!named.includes('authorization_code')) refuse('grant_types', 'must include authorization_code')
  return named.includes('refresh_token') ? ['authorization_code', 'refresh_token'] : ['authorization_code']
}

function scopesIn(scope: string): readonly string[] {
  const scopes = [...new Set(scope.split(' ').filter(one => one !== ''))]
  if (scopes.length > maxScopes) refuse('scope', `must name at most ${maxScopes} scopes`)
  return scopes
}

/** Pages of an app without a secret send its requests themselves. */
function originsOf(redirectUris: readonly string[]): readonly string[] {
  const origins = redirectUris.map(uri => new URL(uri)).filter(({ protocol }) => /^https?:$/.test(protocol))
  return [...new Set(origins.map(({ origin }) => origin))]
}

function isUsable({ kty, crv, x, y, alg, use }: Members): boolean {
  const isOfPoint = [x, y].every(part => typeof part === 'string' && /^[\w-]{43}$/.test(part))
  const isForOthers = (alg !== undefined && alg !== 'ES256') || (use !== undefined && use !== 'sig')
  return kty === 'EC' && crv === 'P-256' && isOfPoint && !isForOthers
}

function text(members: Members, name: string): string | null {
  const { [name]: value } = members
  if (value === undefined) return null
  return typeof value === 'string' ? value : refuse(name, 'must be a string')
}

function list(members: Members, name: string): readonly string[] | null {
  const { [name]: value } = members
  if (value === undefined) return null
  const isOfTexts = Array.isArray(value) && value.every(item => typeof item === 'string')
  return isOfTexts ? value : refuse(name, 'must be a list of strings')
}

function page(members: Members, name: string): string | null {
  const uri = text(members, name)
  if (uri !== null) check(name, pageUriFault(uri))
  return uri
}

function check(name: string, fault: string | null): void {
  if (fault !== null) refuse(name, fault)
}

function refuse(name: string, rule: string): never {
  throw new BrokenRule(`${name} of the document ${rule}`)
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
