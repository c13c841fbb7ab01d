// What a client without a token learns: the challenge of a refusal, and the metadata it names (RFC 9728).

import type { IncomingMessage, ServerResponse } from 'node:http'
import { challengeOf, metadataOf, metadataPath, resourceAt } from '../../oauth/grants/protected-resource.ts'
import { groupsOfScopes } from '../../permissions/roles.ts'
import type { Permission } from '../../permissions/permit.ts'
import { permissions } from '../../permissions/permissions.ts'
import type { Token } from '../../store/records/records.ts'
import { failure } from '../http/envelope.ts'
import type { SidePortApp } from './side-port-app.ts'
import type { Row } from './api-types.ts'
import type { Sender } from '../http/caller-address.ts'

const api = '/client/v4'

/** Returns WWW-Authenticate for a request without a valid token; `isShown` if it has an invalid one. */
export function missingToken(
  { base }: Pick<Sender, 'base'>,
  issuer: string | null,
  { path, permission, scope: ofUser }: Pick<Row, 'path' | 'permission' | 'scope'>,
  isShown: boolean,
): string {
  const resource = resourceOf(base, issuer, path.startsWith(api) ? api : '')
  const scope = permission === null ? (ofUser ?? null) : rowOf(permission).scope
  return challengeOf({ resource, scope, error: isShown ? 'invalid_token' : null })
}

/** Returns the value of WWW-Authenticate if an app lacks a scope; null if that is not the problem. */
export function missingScope(
  { base }: Pick<Sender, 'base'>,
  issuer: string | null,
  permission: Permission,
  { actor }: Token,
): string | null {
  const { id, scope } = rowOf(permission)
  if (actor === undefined || groupsOfScopes(actor.scopes).has(id)) return null
  return insufficient(base, issuer, scope)
}

/** Returns the value of WWW-Authenticate if an app lacks a scope about its user; null for other callers. */
export function missingUserScope(
  { base }: Pick<Sender, 'base'>,
  issuer: string | null,
  scope: string,
  { actor }: Token,
): string | null {
  return actor === undefined ? null : insufficient(base, issuer, scope)
}

function insufficient(base: string | null, issuer: string | null, scope: string): string {
  return challengeOf({ resource: resourceOf(base, issuer), scope, error: 'insufficient_scope' })
}

function rowOf(permission: Permission): (typeof permissions)[number] {
  return permissions.find(({ name }) => name === permission)!
}

function resourceOf(base: string | null, issuer: string | null, path: string = api): URL | null {
  if (base === null || issuer === null) return null
  // A TLS terminator in front of the side port may not report the scheme.
  const { host, origin } = new URL(issuer)
  return resourceAt(new URL(base).host === host ? origin : base, path)
}

/** Serves the metadata of the management API, whatever path below it a client names. */
export class ManagementMetadata implements SidePortApp {
  readonly #issuer: () => string

  /** `issuer` returns the URL of the authorization server. */
  constructor(issuer: () => string) {
    this.#issuer = issuer
  }

  takes(path: string): boolean {
    return path === metadataPath || path.startsWith(`${metadataPath}/`)
  }

  async serve({ method, url }: IncomingMessage, response: ServerResponse, { base }: Sender): Promise<void> {
    const [path] = url!.slice(metadataPath.length).split('?') as [string]
    const issuer = this.#issuer()
    const resource = resourceOf(base, issuer, path)
    const isOurs = path === '' || path === api || path.startsWith(`${api}/`)
    response.setHeader('content-type', 'application/json')
    response.setHeader('access-control-allow-origin', '*')
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return void response.writeHead(405).end(failure('method_not_allowed', 'GET, HEAD').body)
    }
    if (resource === null || !isOurs) return void response.writeHead(404).end(failure('no_route', path).body)
    response.end(metadataOf(resource, 'management', issuer))
  }
}
