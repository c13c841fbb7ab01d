// The zones of a configuration as the management API sees them, with what a test wants of them.

import type { NearKey } from '../../../src/limits/near-keys.ts'
import type { PoolState, Zones } from '../../../src/admin/facts/zone-facts.ts'
import type { HostCertificateInfo } from '../../../src/certificates/host-certificates.ts'
import type { ZoneConfig } from '../../../src/config/model/config.ts'
import { CustomErrors } from '../../../src/errors/custom/custom-errors.ts'
import type { Explained, Explanation, RequestInQuestion } from '../../../src/zones/explanation.ts'
import { noCustomErrors, openAccess, zoneTo } from '../../help/edge.ts'

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
    ofAll: {
      access: openAccess,
      errors: { ...noCustomErrors, documentation, previews: 'on' },
      rateLimits: [],
      scopes: [],
    } as ReturnType<Zones['ofAll']>,
    near: [] as readonly (readonly NearKey[])[],
    pools: [pool] as readonly PoolState[],
    certificates: [] as readonly HostCertificateInfo[],
    explained: { explanation } as Explained | null,
    explain: async (_: RequestInQuestion): Promise<Explained | null> => given.explained,
    /** The last question. */
    asked: null as RequestInQuestion | null,
  }
  const zones: Zones = {
    all: () => given.configs,
    ofAll: () => given.ofAll,
    find: name => given.configs.find(zone => zone.name === name) ?? null,
    lists: () => given.lists,
    hasGeo: () => given.hasGeo,
    customErrors: () => given.custom,
    documentation,
    certificates: () => given.certificates,
    origins: async () => given.pools,
    nearLimits: async () => given.near,
    explain: asked => {
      given.asked = asked
      return given.explain(asked)
    },
    allOrigins: async () => new Map(given.configs.map(({ name }) => [name, given.pools])),
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
      http2_connections: 0,
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
      http2_connections: 0,
      queued: 0,
      check: null,
    },
  ],
}

/** A request that an access rule of the API denies. */
export const explanation: Explanation = {
  outcome: 'refused',
  zone: 'main',
  client: { address: '203.0.113.7', country: 'DE', asn: 64_500, is_proxy: false },
  steps: [
    {
      number: 1,
      step: 'admit',
      title: 'Access rules',
      verdict: 'refuses',
      reason: 'Denied by access rule 0123456789abcdef0123456789abcdef of main.',
      error: { code: 1006, name: 'ip_banned', title: 'Access denied', message: null },
      rule: {
        kind: 'access_rule',
        name: null,
        id: '0123456789abcdef0123456789abcdef',
        number: null,
        zone: 'main',
        set_by: 'api',
        line: null,
        description: null,
      },
      compared: [{ what: 'address', value: '203.0.113.7', with: '203.0.113.7' }],
    },
  ],
  limits: [],
  gateway: {
    api: 'native',
    gateway: 'default',
    authentication_required: true,
    authenticated: false,
    provider: null,
    model: null,
    policies: {
      decision: 'block',
      policy: { id: 'd'.repeat(32), name: 'No reasoning' },
      limits: [],
    },
  },
  route: null,
  pool: { pool: 'shop', balance: 'round_robin', origins: [] },
  forward: {
    origin: 'http://10.0.0.1:9000',
    http: '1',
    method: 'GET',
    host: 'shop',
    path: '/',
    query: 'none',
    fields: [],
    response_fields: [],
  },
  compression: { encoding: null, reason: 'Off for this route.', condition: null },
  response: { status: 403, content_type: 'text/html', retry_after: null, content: null },
}
