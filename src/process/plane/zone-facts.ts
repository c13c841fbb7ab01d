// What the management API knows about zones.

import type { Zones } from '../../admin/facts/zone-facts.ts'
import { hostCertificates } from '../../certificates/host-certificates.ts'
import type { CertificateStatus } from '../../certificates/acme/certificate-state.ts'
import type { Config } from '../../config/model/config.ts'
import { CustomErrors } from '../../errors/custom/custom-errors.ts'
import { zoneErrors } from '../../edge/snapshot/zone-settings.ts'
import type { ZoneRecords } from '../../zones/zone-records.ts'
import type { ManagedPlane } from './managed-plane.ts'
import { poolStatesOf } from './pool-states.ts'

interface ZoneFactsParts {
  readonly config: Config
  readonly documentation: string | null
  readonly records: ZoneRecords
  readonly plane: ManagedPlane
  readonly statuses: () => readonly CertificateStatus[]
}

export function zoneFacts({ config, documentation, records, plane, statuses }: ZoneFactsParts): Zones {
  const find = (name: string) => config.zones.find(zone => zone.name === name) ?? null
  return {
    all: () => config.zones,
    ofAll: () => config,
    find,
    lists: () => config.lists.map(({ name }) => name),
    hasGeo: () => config.geo.databases.length > 0,
    customErrors: name => {
      const zone = find(name)
      return zone === null
        ? new CustomErrors([config.errors])
        : zoneErrors(zone, records.of(name), config.errors)
    },
    documentation,
    nearLimits: names => plane.nearLimits(names),
    explain: question => plane.explain(question),
    certificates: name => hostCertificates(find(name)?.hosts ?? [], config.tls, statuses(), Date.now()),
    origins: async name => {
      const zone = find(name)
      return zone === null ? [] : poolStatesOf(zone, await plane.pools())
    },
    allOrigins: async () => {
      const pools = await plane.pools()
      return new Map(config.zones.map(zone => [zone.name, poolStatesOf(zone, pools)]))
    },
  }
}
