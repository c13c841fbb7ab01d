// What the management API knows of zones besides its own records; provided by `process`.

import type { Config, ZoneConfig } from '../../config/model/config.ts'
import type { HostCertificateInfo } from '../../certificates/host-certificates.ts'
import type { CustomErrors } from '../../errors/custom/custom-errors.ts'
import type { NearKey } from '../../limits/near-keys.ts'
import type { Explained, RequestInQuestion } from '../../zones/explanation.ts'

export interface Zones {
  all(): readonly ZoneConfig[]
  find(name: string): ZoneConfig | null
  ofAll(): Pick<Config, 'access' | 'errors' | 'rateLimits' | 'scopes'>
  readonly lists: () => readonly string[]
  readonly hasGeo: () => boolean
  customErrors(name: string): CustomErrors
  /** The base of the `type` URIs of errors, without a trailing slash. */
  readonly documentation: string | null
  /** Explains what would happen to a request; null if no process serves requests. */
  explain(question: RequestInQuestion): Promise<Explained | null>
  /** Returns the keys closest to the named limits, for each process that serves requests. */
  nearLimits(names: readonly string[]): Promise<readonly (readonly NearKey[])[]>
  certificates(name: string): readonly HostCertificateInfo[]
  origins(name: string): Promise<readonly PoolState[]>
  allOrigins(): Promise<ReadonlyMap<string, readonly PoolState[]>>
}

export interface PoolState {
  readonly pool: string
  readonly routes: readonly string[]
  readonly origins: readonly OriginState[]
}

export const originStates = ['unchecked', 'healthy', 'failing', 'ejected', 'trial', 'down'] as const

/** Times are as in 2030-01-31T12:00:00Z. */
export interface OriginState {
  readonly url: string
  readonly weight: number
  /** The effective share of its weight, from 0 to 1: less during slow start, 0 while it gets no requests. */
  readonly share: number
  /** `failing`: requests fail; `down`: by active checks; `trial`: one request may end an ejection. */
  readonly state: (typeof originStates)[number]
  readonly since: string
  /** How often it was ejected, since the processes of the gateway know it. */
  readonly ejections: number
  readonly consecutive_failures: number
  readonly ejected_until: string | null
  /** Requests without a response yet, including those queued for a connection. */
  readonly outstanding: number
  /** Open connections to it, also of other pools. */
  readonly connections: number
  readonly http2_connections: number
  readonly queued: number
  readonly check: OriginCheck | null
}

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
