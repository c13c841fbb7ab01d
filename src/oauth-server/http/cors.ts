// Which responses the pages of other sites may read.

import type { ServerResponse } from 'node:http'
import type { OAuthClient } from '../../store/records/oauth-client.ts'

export function allowAllOrigins(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('cross-origin-resource-policy', 'cross-origin')
}

export function respondToPreflight(response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'GET')
  response.writeHead(204).end()
}

/** Whether pages of an origin may read the responses to a client; introspection is for servers only. */
export function isAllowedOrigin(origin: string, { allowedCorsOrigins }: OAuthClient, route: string): boolean {
  return route !== 'introspection' && allowedCorsOrigins.includes(origin)
}

/** Removes the headers that the library sets before it knows the client, even without an Origin. */
export function removeCorsHeaders(context: { remove(name: string): void }): void {
  for (const name of ['access-control-allow-origin', 'access-control-expose-headers']) context.remove(name)
}
