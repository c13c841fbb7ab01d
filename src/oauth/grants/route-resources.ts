// Routes that access tokens open, each as a resource of its own (RFC 8707, RFC 9728): its URL has the path of
// the route, and any host that its zone lists.

import { memoizeEach } from '../../base/memo.ts'
import type { Config, RouteConfig, ZoneConfig } from '../../config/model/config.ts'
import { type OAuthScope, scopesWith } from '../../permissions/scopes.ts'
import { HostLookup } from '../../zones/lookup.ts'

export interface RouteResource {
  readonly scopes: readonly string[]
  /** The OAuth clients that may introspect tokens for it. */
  readonly servers: readonly string[]
  /** Whether our own authorization server issues tokens for it. */
  readonly isOurs: boolean
  /** Others that do: MCP clients find them by its metadata. */
  readonly issuers: readonly string[]
}

export class RouteResources {
  readonly #config: () => Pick<Config, 'zones' | 'scopes'>

  /** `config` returns the one in use. */
  constructor(config: () => Pick<Config, 'zones' | 'scopes'>) {
    this.#config = config
  }

  /** All scopes that exist. */
  get scopes(): readonly OAuthScope[] {
    return scopesWith(this.#config().scopes)
  }

  /** Returns the route that a resource indicator means; null for none. */
  at(resource: string): RouteResource | null {
    const url = urlOf(resource)
    if (url === null) return null
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const route = resourcesByHost(this.#config().zones).find(host)?.get(url.pathname) ?? null
    return route?.isOurs ? route : null
  }
}

/** Returns a resource indicator in the form in which two are compared; null if it can be of no route. */
export function normalResource(resource: string): string | null {
  const url = urlOf(resource)
  return url && resourceUrl(url)
}

/** Returns the URL of a resource; one at the root has no path. */
export function resourceUrl({ origin, pathname }: Pick<URL, 'origin' | 'pathname'>): string {
  return pathname === '/' ? origin : origin + pathname
}

/** Null if no access token opens the route, and it is for no MCP clients that could look for one. */
function resourceOf({ protect, mcp }: RouteConfig): RouteResource | null {
  const accepted = (protect ?? []).flatMap(gate =>
    gate.kind === 'token' && 'scopes' in gate.accepts ? [gate.accepts] : [],
  )
  const foreign = mcp == null ? [] : (protect ?? []).flatMap(gate => (gate.kind === 'jwt' ? gate.issuer : []))
  const issuers = foreign.filter(issuer => /^https:\/\//.test(issuer) && URL.canParse(issuer))
  if (accepted.length === 0 && issuers.length === 0) return null
  return {
    scopes: [...new Set([...accepted, ...(mcp?.rules ?? [])].flatMap(({ scopes }) => scopes))],
    servers: accepted.flatMap(({ server }) => server ?? []),
    isOurs: accepted.length > 0,
    issuers,
  }
}

/** Returns the resources of a zone, by the paths of their URLs. */
export function resourcesIn({ routes }: ZoneConfig): ReadonlyMap<string, RouteResource> {
  return new Map(
    routes.flatMap(route => {
      const resource = resourceOf(route)
      return resource === null
        ? []
        : [[new URL(route.path, 'https://route.invalid').pathname, resource] as const]
    }),
  )
}

/** A host that only the default zone takes is somebody else's, who must not get a token for here. */
const resourcesByHost = memoizeEach(
  (zones: readonly ZoneConfig[]) =>
    new HostLookup(zones.flatMap(zone => zone.hosts.map(host => [host, resourcesIn(zone)] as const))),
)

function urlOf(resource: string): URL | null {
  const url = /[?#\\\s]/.test(resource) ? null : URL.parse(resource)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return isPlain ? url : null
}
