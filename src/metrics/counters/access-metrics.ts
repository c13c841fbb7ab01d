// What is counted of access rules, by policy, lists and geo of access.

import { Tally, tallies } from './distribution.ts'

const reloadResults = ['success', 'failure'] as const

/** What an access rule may look at. */
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

/** What access rules decided, and what became of the files that they look into. */
export class AccessMetrics {
  readonly allowed = tallies(accessKinds)
  /** `default`: no rule matched, and the zone lets in only whom one does. */
  readonly denied = tallies([...accessKinds, 'default'])
  readonly legal = tallies(accessKinds)
  readonly failed = tallies(accessKinds)
  readonly banned = new Tally()
  readonly listReloads = tallies(reloadResults)
  readonly geoReloads = tallies(reloadResults)
  /** Returns how many addresses are banned now; null where nobody keeps bans. */
  activeBans: (() => number) | null = null
}
