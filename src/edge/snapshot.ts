// A configuration compiled for requests: frozen lookups with everything a request needs at hand. Built whole, then swapped in as one reference.
import type { Config, RouteConfig } from '../config/schema.ts'
import type { HeadLimits } from '../http1/request-head.ts'
import { AddressSet } from '../base/address.ts'
import type { HostLookup } from '../zones/lookup.ts'
import { compileZones, type Route, type Zone } from '../zones/zone.ts'
import { Pool } from '../zones/pool.ts'
import type { EdgeMetrics, ZoneMetrics } from '../base/metrics.ts'
import type { Origin, Origins } from './origins.ts'

export interface EdgeRoute extends Route {
  readonly pool: Pool<Origin>
}

export interface EdgeZone extends Zone<EdgeRoute> {
  readonly metrics: ZoneMetrics
}

export interface Snapshot {
  readonly name: string
  readonly zones: HostLookup<EdgeZone>
  readonly limits: HeadLimits & { readonly requestsPerConnection: number }
  readonly client: Config['client']
  readonly trusted: AddressSet
  /** The Via and CDN-Loop lines of a request that passed no hop before. */
  readonly hops: string
  readonly origins: ReadonlySet<Origin>
}

/** Compiles a configuration; throws and changes nothing when it does not build. */
export function buildSnapshot(config: Config, origins: Origins, metrics: EdgeMetrics): Snapshot {
  const inUse = new Set<Origin>()
  const buildRoute = (route: RouteConfig): EdgeRoute => {
    const members = (route.pool?.origins ?? []).map(origin => origins.get(origin))
    for (const member of members) inUse.add(member)
    return { config: route, pool: new Pool(members) }
  }
  return {
    name: config.name,
    zones: compileZones(config.zones, buildRoute, zone => ({
      ...zone,
      metrics: metrics.zone(zone.config.name),
    })),
    limits: config.limits,
    client: config.client,
    trusted: new AddressSet(config.trustedProxies),
    hops: `Via: 1.1 ${config.name}\r\nCDN-Loop: ${config.name}\r\n`,
    origins: inUse,
  }
}
