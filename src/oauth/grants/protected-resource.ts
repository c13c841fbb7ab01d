// How a client that has only the URL of an API finds out where to get a token: the challenge of a 401 or 403
// names the metadata of the API (RFC 9728), which name the authorization server.

import { oauthScopes } from '../../permissions/scopes.ts'
import type { Api } from '../../store/records/records.ts'

/**
 * The path of a resource's metadata, which comes between its origin and its own path (RFC 9728 section 3.1).
 */
export const metadataPath = '/.well-known/oauth-protected-resource'

type TokenError = 'invalid_token' | 'insufficient_scope'

interface Challenge {
  /** The API's URL; null if no authorization server can be named. */
  readonly resource: Pick<URL, 'origin' | 'pathname'> | null
  /** The scope that the request needs; null if it needs none in particular. */
  readonly scope: string | null
  readonly error: TokenError | null
}

/** Returns the value of WWW-Authenticate (RFC 6750 section 3, RFC 9728 section 5.1). */
export function challengeOf({ resource, scope, error }: Challenge): string {
  const parameters = [
    resource === null ? '' : `resource_metadata="${resource.origin}${metadataPath}${pathOf(resource)}"`,
    scope === null ? '' : `scope="${scope}"`,
    error === null ? '' : `error="${error}"`,
  ].filter(parameter => parameter !== '')
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`
}

/** Returns the metadata of an API as JSON (RFC 9728 section 2). */
export function metadataOf(resource: URL, api: Api, issuer: string): string {
  return resourceMetadata(resource, [issuer], { scopes: scopesOf[api], name: names[api] })
}

/** Likewise, of any resource. */
export function resourceMetadata(
  resource: URL,
  issuers: readonly string[],
  { scopes, name }: { readonly scopes: readonly string[]; readonly name: string },
): string {
  return JSON.stringify({
    resource: resource.origin + pathOf(resource),
    authorization_servers: issuers,
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_name: name,
  })
}

/** Returns the URL of a resource at an origin (`https://host`); null if it is not a URL. */
export function resourceAt(origin: string, path: string): URL | null {
  return URL.canParse(origin + path) ? new URL(origin + path) : null
}

function pathOf({ pathname }: Pick<URL, 'pathname'>): string {
  return pathname === '/' ? '' : pathname
}

const scopesOf: Readonly<Record<Api, readonly string[]>> = {
  management: oauthScopes.map(({ id }) => id).filter(id => id !== 'ai_gateway.run'),
  ai: ['ai_gateway.run', 'openid', 'offline_access'],
}

const names: Readonly<Record<Api, string>> = {
  management: 'Gatehouse management API',
  ai: 'Gatehouse AI gateway',
}
