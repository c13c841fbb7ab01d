// Counts of access rules, by access policy, lists and geo.

import { Tally, tallies } from './distribution.ts'

const reloadResults = ['success', 'failure'] as const

const accessKinds = [
  'ip',
  'list',
  'country',
  'asn',
  'user_agent',
  'referer',
  'referer_not',
  'path',
  'expression',
] as const
export type AccessKind = (typeof accessKinds)[number]

export class AccessMetrics {
  readonly allowed = tallies(accessKinds)
  /** `default`: no rule matched, and the zone denies by default. */
  readonly denied = tallies([...accessKinds, 'default'])
  readonly legal = tallies(accessKinds)
  readonly failed = tallies(accessKinds)
  readonly banned = new Tally()
  readonly listReloads = tallies(reloadResults)
  readonly geoReloads = tallies(reloadResults)
  activeBans: (() => number) | null = null
}
