// Which responses the pages of other sites may read.

import type { ServerResponse } from 'node:http'
import type { OAuthClient } from '../../store/records/oauth-client.ts'

/** Lets all pages read what is public. */
export function sentToAllPages(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('cross-origin-resource-policy', 'cross-origin')
}

/** Answers a preflight request for something public. */
export function allowGet(response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'GET')
  response.writeHead(204).end()
}

/** Whether pages of an origin may read the responses to a client; introspection is for servers only. */
export function isReadableFrom(origin: string, { allowedCorsOrigins }: OAuthClient, route: string): boolean {
  return route !== 'introspection' && allowedCorsOrigins.includes(origin)
}

/** Takes back what the library sets before it knows the client, and without an Origin too. */
export function sentToNoPage(context: { remove(name: string): void }): void {
  for (const name of ['access-control-allow-origin', 'access-control-expose-headers']) context.remove(name)
}
