// Prometheus metrics of access rules, and of their files.

import type { AccessMetrics } from '../counters/access-metrics.ts'
import { byName, type Families, type Sample, sample } from './family.ts'

export const accessFamilies: Families = {
  gatehouse_access_decisions_total: {
    help: 'Requests decided by access rules, by result and kind of condition.',
    read: ({ edge: { access } }) => accessDecisions(access),
  },
  gatehouse_access_bans: {
    help: 'Banned addresses.',
    together: 'max',
    read: ({ edge: { access } }) => (access.activeBans ? [{ labels: {}, value: access.activeBans() }] : []),
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
    ...byName(allowed, kind => ({ result: 'allowed', kind })),
    ...byName(denied, kind => ({ result: 'denied', kind })),
    ...byName(legal, kind => ({ result: 'legal', kind })),
    ...byName(failed, kind => ({ result: 'failed', kind })),
    sample(banned, { result: 'banned', kind: 'ban' }),
  ]
}
