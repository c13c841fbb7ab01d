// Which API a resource indicator means (RFC 8707): a URL of the issuer or of an AI host. Any other belongs to
// somebody else, who must not get a token that is valid here.

import { isLoopback } from '../../config/shape/host-rules.ts'
import type { RouteResources } from './route-resources.ts'
import type { Api } from '../../store/records/records.ts'

export interface Places {
  /** The URL of the authorization server and the management API; null if there is none. */
  readonly issuer: string | null
  /** Hosts with AI routes, in lower case, IPv6 without brackets. */
  readonly aiHosts: readonly string[]
  /** Those on an AI host are no part of the AI routes. */
  readonly routes?: Pick<RouteResources, 'at'>
}

/** Returns the API of a resource; null if it is not ours. */
export function apiOf(resource: string, { issuer, aiHosts, routes }: Places): Api | null {
  const url = URL.canParse(resource) ? new URL(resource) : null
  if (url === null || !isPlain(url) || resource.includes('#')) return null
  const isManagement = issuer !== null && isSameServer(url, new URL(issuer))
  const isAi = aiHosts.includes(bare(url)) && (routes?.at(resource) ?? null) === null
  if (isManagement && isAi)
    return management.test(url.pathname) && !ai.test(url.pathname) ? 'management' : 'ai'
  if (isManagement) return url.pathname === '/' || management.test(url.pathname) ? 'management' : null
  return isAi ? 'ai' : null
}

const everyApi: readonly Api[] = ['management', 'ai']

/** Returns the APIs of resources without duplicates; all of ours if no resource is named. */
export function apisOf(
  resources: readonly string[],
  apiOf: (resource: string) => Api | null,
): readonly Api[] {
  if (resources.length === 0) return everyApi
  const named = new Set(resources.map(apiOf))
  return everyApi.filter(api => named.has(api))
}

/** Names APIs and URLs of routes for people; there may be none if the configuration has changed. */
export function wordsOf(apis: readonly Api[], resources: readonly string[] = []): string {
  const all = [...apis.map(api => words[api]), ...resources]
  return all.length === 0 ? 'no API of this gateway' : all.join(' and ')
}

const words: Readonly<Record<Api, string>> = { management: 'the management API', ai: 'AI gateways' }

const management = /^\/client\/v4(\/|$)/
const ai = /^\/client\/v4\/accounts\/[^/]+\/ai(\/|$)/

function isPlain({ protocol, username, password }: URL): boolean {
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === ''
}

/** Whether two URLs lead to the same server; all names of loopback do. */
function isSameServer(a: URL, b: URL): boolean {
  if (a.protocol !== b.protocol || a.port !== b.port) return false
  return a.hostname === b.hostname || (isLoopback(bare(a)) && isLoopback(bare(b)))
}

function bare({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
