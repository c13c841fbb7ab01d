// The numbers of one process: what it counts, whatever shows them.

import { Tally, tallies } from './distribution.ts'
import { EdgeMetrics } from './edge-metrics.ts'
import { PeopleMetrics } from './people-metrics.ts'

/** What DNS can say of a host whose owner is to be proven. */
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

/** Why the management API refused a request: a closed set, so that no caller can make labels grow. */
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

/** How orders of certificates end. */
const orderResults = ['issued', 'refused', 'rate_limited', 'unreachable'] as const

/** Why a store that responds is not trusted. */
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
  /** What is wrong, in a clause that starts with a small letter and ends without a full stop. */
  readonly message: string
  /** What the operator does about it, in a sentence without a full stop. */
  readonly remedy: string
}

/** How the store is: out of reach, or why it refuses writes, can't be heard or is not trusted; null or empty where all is well. */
export interface StoreHealth {
  readonly isUnreachable: boolean
  readonly refusal: string | null
  readonly deafness: string | null
  readonly degradation: { readonly reasons: readonly DegradedReason[] }
}

/** When a certificate of the gateway ends. */
export interface CertificateExpiry {
  /** The first of its names. */
  readonly name: string
  /** Such as `ec` or `rsa`. */
  readonly keyType: string
  /** Wall-clock ms. */
  readonly notAfter: number
}

/** When an authority of client certificates ends, or a list of what it has revoked. */
export interface TrustExpiry {
  readonly kind: 'authority' | 'revocation_list'
  readonly name: string
  /** Wall-clock ms. */
  readonly notAfter: number
}

/** When an automatic certificate is to be replaced. */
export interface CertificateRenewal {
  readonly host: string
  /** Wall-clock ms. */
  readonly renewAt: number
}

/** The key that seals the TLS sessions of clients. */
interface TicketKeySign {
  /** Wall-clock ms since when it seals. */
  readonly since: number
  /** Whether all who share the store have it. */
  readonly isShared: boolean
}

/** All that one process counts. */
export class Counts {
  readonly edge = new EdgeMetrics()
  readonly people = new PeopleMetrics()
  readonly domainChecks = tallies(checkOutcomes)
  readonly managementRefusals = tallies(managementRefusals)
  /** Connections to the side port that were closed since there were too many. */
  readonly refusedOperators = new Tally()
  readonly workerRestarts = new Tally()
  readonly droppedLogLines = new Tally()
  /** Returns how the store is; null in a process that is not asked for it. */
  storeHealth: (() => StoreHealth | null) | null = null
  /** Returns how many rules have other limits on other machines; null in a process that is not asked for it. */
  limitDifferences: (() => number) | null = null
  /** Returns the certificates in use; null in a process that is not asked for them. */
  certificates: (() => readonly CertificateExpiry[]) | null = null
  /** Returns what zones trust of certificates of clients; null in a process that is not asked for it. */
  clientTrust: (() => readonly TrustExpiry[]) | null = null
  /** Returns the key of TLS sessions; null in a process that is not asked for it, and without TLS. */
  ticketKeys: (() => TicketKeySign | null) | null = null
  readonly acmeOrders = tallies(orderResults)
  /** Returns how many hosts of automatic certificates are in which state; null in a process that is not asked for them. */
  automaticCertificates: (() => Readonly<Record<string, number>>) | null = null
  /** Returns when the next certificate of each host is to be ordered; null in a process that is not asked for it. */
  renewals: (() => readonly CertificateRenewal[]) | null = null
  /** How many OAuth grants there were when the numbers were last asked for; null where the store did not say, and in a process that is not asked. */
  oauthGrants: number | null = null
  readonly reloads = { success: new Tally(), failure: new Tally() }
  readonly upgrades = { success: new Tally(), failure: new Tally() }
  readonly version: string

  constructor(version: string) {
    this.version = version
  }
}
