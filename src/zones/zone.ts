// Compiled zones: the routes of each behind a lookup, and all zones behind one.

import type { RouteConfig, ZoneConfig } from '../config/model/config.ts'
import { HostLookup, PathLookup } from './lookup.ts'

/** A route as requests see it; its builder may attach more, such as a connection pool. */
export interface Route {
  readonly config: RouteConfig
}

/** A zone as requests see it; its builder may attach more. */
export interface Zone<R extends Route = Route> {
  readonly config: ZoneConfig
  readonly routes: PathLookup<R>
}

/** Compiles zones to a lookup by host, with routes and zones from the given builders. */
export function compileZones<R extends Route, Z extends Zone<R>>(
  configs: readonly ZoneConfig[],
  buildRoute: (route: RouteConfig, zone: ZoneConfig) => R,
  buildZone: (zone: Zone<R>) => Z,
): HostLookup<Z> {
  const hosts: [string, Z][] = []
  let fallback: Z | null = null
  for (const config of configs) {
    const routes = new PathLookup(
      config.routes.map(route => [route.path, buildRoute(route, config)] as const),
    )
    const zone = buildZone({ config, routes })
    hosts.push(...config.hosts.map(host => [host, zone] as [string, Z]))
    if (config.isDefault) fallback = zone
  }
  return new HostLookup(hosts, fallback)
}
