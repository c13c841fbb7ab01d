// The zones of a configuration as the management API sees them, with what a test wants of them.

import type { PoolState, Zones } from '../../../src/admin/zones/zones.ts'
import type { ZoneConfig } from '../../../src/config/config.ts'
import { CustomErrors } from '../../../src/errors/custom/custom-errors.ts'
import { zoneTo } from '../../help/edge.ts'

const documentation = 'http://docs.test/errors'

/** A zone without routes. */
export function zoneWith(members: Partial<ZoneConfig> = {}): ZoneConfig {
  return { ...zoneTo([]), name: 'main', hosts: ['*.main.test', 'other.test'], routes: [], ...members }
}

/** There is one zone, `main`, of the oldest account; a test may change all of it. */
export function testZones() {
  const given = {
    configs: [zoneWith()],
    lists: ['partners', 'scanners'],
    hasGeo: true,
    custom: new CustomErrors([]),
    pools: [pool] as readonly PoolState[],
  }
  const zones: Zones = {
    all: () => given.configs,
    find: name => given.configs.find(zone => zone.name === name) ?? null,
    lists: () => given.lists,
    hasGeo: () => given.hasGeo,
    customErrors: () => given.custom,
    documentation,
    origins: async () => given.pools,
  }
  return { zones, given }
}

/** A pool of which one origin is down by checks and the other ejected. */
export const pool: PoolState = {
  pool: 'shop',
  routes: ['/', '/cart'],
  origins: [
    {
      url: 'http://10.0.0.1:9000',
      weight: 2,
      share: 0,
      state: 'down',
      since: '2026-01-01T00:00:00Z',
      ejections: 0,
      consecutive_failures: 0,
      ejected_until: null,
      outstanding: 1,
      connections: 1,
      queued: 0,
      check: {
        is_up: false,
        since: '2026-01-01T00:00:00Z',
        next_check_at: '2026-01-01T00:00:10.5Z',
        last_check_at: '2026-01-01T00:00:00.5Z',
        last_duration: 1.5,
        last_status: null,
        last_error: 'ECONNREFUSED',
      },
    },
    {
      url: 'http://10.0.0.2:9000',
      weight: 1,
      share: 0,
      state: 'ejected',
      since: '2026-01-01T00:00:00Z',
      ejections: 2,
      consecutive_failures: 5,
      ejected_until: '2026-01-01T00:00:10Z',
      outstanding: 0,
      connections: 0,
      queued: 0,
      check: null,
    },
  ],
}
