// The numbers of one process, independent of how they are exposed.

import { Tally, tallies } from './distribution.ts'
import { EdgeMetrics } from './edge-metrics.ts'
import { PeopleMetrics } from './people-metrics.ts'

export const checkOutcomes = [
  'found',
  'no_match',
  'no_records',
  'no_such_name',
  'server_failure',
  'refused',
  'timeout',
  'error',
] as const

/** Why the management API refused a request: a closed set, so that callers cannot grow the labels. */
const managementRefusals = [
  'missing',
  'malformed',
  'unknown',
  'disabled',
  'expired',
  'not_yet_valid',
  'address_denied',
  'address_unknown',
  'other_api',
  'forbidden',
  'beyond_token',
  'too_many',
] as const
export type ManagementRefusal = (typeof managementRefusals)[number]

const orderResults = ['issued', 'refused', 'rate_limited', 'unreachable'] as const

export const degradedCodes = [
  'store_empty',
  'store_older',
  'store_other',
  'store_moved',
  'file_replaced',
  'other_secrets_key',
  'copy_unfinished',
  'server_unfit',
] as const
export type DegradedCode = (typeof degradedCodes)[number]

export interface DegradedReason {
  readonly code: DegradedCode
  /** The problem, in a clause that starts with a small letter and ends without a full stop. */
  readonly message: string
  readonly remedy: string
}

/** Why the store is unreachable, does not confirm writes, is deaf or distrusted; null or empty if not. */
export interface StoreHealth {
  readonly isUnreachable: boolean
  readonly refusal: string | null
  readonly deafness: string | null
  readonly degradation: { readonly reasons: readonly DegradedReason[] }
}

export interface CertificateExpiry {
  /** The first of its names. */
  readonly name: string
  readonly keyType: string
  /** Wall-clock ms. */
  readonly notAfter: number
}

export interface TrustExpiry {
  readonly kind: 'authority' | 'revocation_list'
  readonly name: string
  /** Wall-clock ms. */
  readonly notAfter: number
}

export interface CertificateRenewal {
  readonly host: string
  /** Wall-clock ms. */
  readonly renewAt: number
}

interface TicketKeySign {
  readonly since: number
  readonly isShared: boolean
}

export class Counts {
  readonly edge = new EdgeMetrics()
  readonly people = new PeopleMetrics()
  readonly domainChecks = tallies(checkOutcomes)
  readonly budgetAlerts = tallies(['delivered', 'failed'])
  readonly managementRefusals = tallies(managementRefusals)
  readonly refusedOperators = new Tally()
  readonly workerRestarts = new Tally()
  readonly droppedLogLines = new Tally()
  /** Returns the health of the store; null in processes that do not report it. */
  storeHealth: (() => StoreHealth | null) | null = null
  /** Returns how many rules have other limits on other machines; null in processes that do not report it. */
  limitDifferences: (() => number) | null = null
  certificates: (() => readonly CertificateExpiry[]) | null = null
  clientTrust: (() => readonly TrustExpiry[]) | null = null
  /** Returns the key of TLS sessions; null in processes that do not report it, and without TLS. */
  ticketKeys: (() => TicketKeySign | null) | null = null
  readonly acmeOrders = tallies(orderResults)
  /** Hosts of automatic certificates by state; null where they are not reported. */
  automaticCertificates: (() => Readonly<Record<string, number>>) | null = null
  renewals: (() => readonly CertificateRenewal[]) | null = null
  /** At the last read; null while the store is unreachable, or where not reported. */
  oauthGrants: number | null = null
  readonly reloads = tallies(['success', 'failure'])
  readonly upgrades = tallies(['success', 'failure'])
  readonly version: string

  constructor(version: string) {
    this.version = version
  }
}
