// The sites behind sign_in gates, as the configuration has them.

import { pathReadings } from '../base/path/path-readings.ts'
import type { ZoneConfig } from '../config/model/config.ts'
import { hasSignIn } from '../config/model/protect-config.ts'
import { isLoopback } from '../config/shape/host-rules.ts'
import { safeReturnPath } from '../pages/parts/return-path.ts'
import type { HostLookup } from '../zones/lookup.ts'
import { compileZones, type Zone } from '../zones/zone.ts'

/** Longer ones would not fit into the addresses on the way. */
const maxPath = 2_000

export class Sites {
  readonly #zones: () => readonly ZoneConfig[]
  #compiled: { readonly of: readonly ZoneConfig[]; readonly lookup: HostLookup<Zone> } | null = null

  constructor(zones: () => readonly ZoneConfig[]) {
    this.#zones = zones
  }

  /**
   * Returns the URL of an origin that has a gate to sign in for; null for any other, and for one that others
   * could read.
   */
  find(origin: string | null): URL | null {
    const url = origin === null || origin.length > 300 ? null : URL.parse(origin)
    if (url === null || url.origin !== origin) return null
    const host = hostOf(url)
    const isPrivate = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(host))
    const isGated = this.#lookup.find(host)?.config.routes.some(hasSignIn) === true
    return isPrivate && isGated ? url : null
  }

  /** Returns a path of the site, with its query, that leads to such a gate; the root for any other text. */
  pathAt(site: URL, text: string | null): string {
    const path = text === null || text.length > maxPath ? '/' : safeReturnPath(text, '/')
    // A browser keeps the fragment to itself.
    const [target = ''] = path.split('#', 1)
    const route = this.#lookup.find(hostOf(site))?.routes.find(pathReadings(target)) ?? null
    return route !== null && route !== 'ambiguous' && hasSignIn(route.config) ? path : '/'
  }

  get #lookup(): HostLookup<Zone> {
    const zones = this.#zones()
    if (this.#compiled?.of !== zones) {
      // A host that only the default zone takes is somebody else's, who must not get a code for here.
      const listed = zones.map(zone => ({ ...zone, isDefault: false }))
      const lookup = compileZones(
        listed,
        config => ({ config }),
        (zone): Zone => zone,
      )
      this.#compiled = { of: zones, lookup }
    }
    return this.#compiled!.lookup
  }
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}
