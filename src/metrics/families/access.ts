// Prometheus metrics of access rules, and of their files.

import type { AccessMetrics } from '../counters/access-metrics.ts'
import { byName, type Families, gauge, type Sample, sample } from './family.ts'

export const accessFamilies: Families = {
  gatehouse_access_decisions_total: {
    help: 'Requests decided by access rules, by result and kind of condition.',
    read: ({ edge: { access } }) => accessDecisions(access),
  },
  gatehouse_access_bans: {
    help: 'Banned addresses.',
    together: 'max',
    read: ({ edge: { access } }) => gauge(access.activeBans?.()),
  },
  gatehouse_address_list_reloads_total: {
    help: 'Reloads of address list files, by result.',
    read: ({ edge: { access } }) => byName(access.listReloads, result => ({ result })),
  },
  gatehouse_geo_database_reloads_total: {
    help: 'Reloads of geographic databases, by result.',
    read: ({ edge: { access } }) => byName(access.geoReloads, result => ({ result })),
  },
}

function accessDecisions({ allowed, denied, legal, failed, banned }: AccessMetrics): Sample[] {
  return [
    ...Object.entries({ allowed, denied, legal, failed }).flatMap(([result, kinds]) =>
      byName(kinds, kind => ({ result, kind })),
    ),
    sample(banned, { result: 'banned', kind: 'ban' }),
  ]
}
