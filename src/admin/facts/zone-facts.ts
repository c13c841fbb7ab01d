// What the management API has to know of zones beside what it keeps. `process` gives it.

import type { Config, ZoneConfig } from '../../config/model/config.ts'
import type { HostCertificateInfo } from '../../certificates/host-certificates.ts'
import type { CustomErrors } from '../../errors/custom/custom-errors.ts'
import type { NearKey } from '../../limits/near-keys.ts'
import type { Explained, RequestInQuestion } from '../../zones/explanation.ts'

/** The zones of the configuration, as it is now. */
export interface Zones {
  all(): readonly ZoneConfig[]
  find(name: string): ZoneConfig | null
  /** What the configuration says for all zones. */
  ofAll(): Pick<Config, 'access' | 'errors' | 'rateLimits'>
  /** The lists of addresses that rules may name. */
  readonly lists: () => readonly string[]
  /** Whether rules may ask for countries and networks. */
  readonly hasGeo: () => boolean
  /** The custom errors in effect for a zone: what the API has set before what the file says. */
  customErrors(name: string): CustomErrors
  /** The base of the `type` URIs of errors, without a slash at the end. */
  readonly documentation: string | null
  /** Explains what would happen to a request; null where no process serves requests. */
  explain(asked: RequestInQuestion): Promise<Explained | null>
  /** Returns for each process that serves requests the keys that are nearest to limits, by the names of these. */
  nearLimits(names: readonly string[]): Promise<readonly (readonly NearKey[])[]>
  /** What the hosts of a zone have for certificates. */
  certificates(name: string): readonly HostCertificateInfo[]
  /** The pools of a zone, as its responses show them. */
  origins(name: string): Promise<readonly PoolState[]>
  /** The same of all zones, by name. */
  allOrigins(): Promise<ReadonlyMap<string, readonly PoolState[]>>
}

/** A pool and how its origins are doing. */
export interface PoolState {
  readonly pool: string
  /** The paths of the routes that lead to it. */
  readonly routes: readonly string[]
  readonly origins: readonly OriginState[]
}

export const originStates = ['unchecked', 'healthy', 'failing', 'ejected', 'trial', 'down'] as const

/** Times are as in 2030-01-31T12:00:00Z. */
export interface OriginState {
  readonly url: string
  readonly weight: number
  /** How much of its weight counts now, from 0 to 1: less while it comes back slowly, 0 while nothing goes to it. */
  readonly share: number
  /** `unchecked` before a check or a request has told, `failing` while requests go to it and fail, `down` by active checks, `ejected` for its failures, in `trial` when one request may end that. */
  readonly state: (typeof originStates)[number]
  /** When it came to this state. */
  readonly since: string
  /** How often it was ejected, since the processes of the gateway know it. */
  readonly ejections: number
  /** Failed requests in a row. */
  readonly consecutive_failures: number
  readonly ejected_until: string | null
  /** Requests that it has not answered yet, or that wait for a connection. */
  readonly outstanding: number
  /** Open connections to it, also of other pools. */
  readonly connections: number
  /** Those among them that speak HTTP/2. */
  readonly http2_connections: number
  /** Requests that wait for a connection because it may have no more. */
  readonly queued: number
  readonly check: OriginCheck | null
}

/** What active checks found last. */
interface OriginCheck {
  readonly is_up: boolean
  readonly since: string
  readonly next_check_at: string
  readonly last_check_at: string
  /** Ms. */
  readonly last_duration: number
  readonly last_status: number | null
  readonly last_error: string | null
}
