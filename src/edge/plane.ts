// What all connections of one data plane share.

import type { Clock } from '../base/clock.ts'
import type { EdgeMetrics } from '../metrics/edge-metrics.ts'
import type { AccessLog, Logger } from '../log/log.ts'
import type { Vouch } from '../base/vouch.ts'
import type { Endpoint } from '../config/config.ts'
import type { Geo } from '../access/geo.ts'
import type { GatewayDirectory } from '../ai/gateways.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { LogQueue } from '../ai-logs/queue.ts'
import type { TokenVerifier } from '../tokens/verify.ts'
import type { Snapshot } from './snapshot.ts'

/** What AI routes need beside the configuration. */
export interface AiServices {
  readonly tokens: TokenVerifier
  readonly gateways: GatewayDirectory
  readonly logs: LogQueue
}

/** The side port of this gateway, and the secret of the running gateway that they share. */
export interface SidePort {
  readonly endpoint: Endpoint
  readonly secret: Uint8Array
}

export interface Plane {
  /** The configuration in effect; a reload swaps this one reference. */
  snapshot: Snapshot
  readonly clock: Clock
  /** Monotonic ms of the last tick: good enough for deadlines, and free. */
  coarseNow: number
  /** Bytes of request bodies that are held whole. */
  gathered: number
  /** The time of day as the Date field wants it (RFC 9110 section 5.6.7), made once a second. */
  date(): string
  readonly metrics: EdgeMetrics
  /** Counts and, once a minute, logs that there was no file descriptor for a connection to an origin. */
  noteShortage(failure: { readonly code?: string }): void
  readonly accessLog: AccessLog | null
  readonly log: Logger
  /** Null where no configuration will have AI routes. */
  readonly ai: AiServices | null
  /** Null where no database tells of countries and networks. */
  readonly geo: Geo | null
  readonly limiter: Limiter
  /** The side port, which is told whose requests are passed on to it; null where there is none. */
  readonly sidePort: { readonly endpoint: Endpoint; readonly vouch: Vouch } | null
  /** Base of the `type` URIs. */
  readonly documentation: string
  /** Whether the data plane is shutting down: connections close after their current request. */
  isDraining: boolean
  /** Whether WebSockets are being closed, since a drain ends before long. */
  isGoingAway: boolean
}
