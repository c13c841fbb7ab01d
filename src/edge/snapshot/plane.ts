// The state that all connections of one data plane share.

import type { Clock } from '../../base/clock.ts'
import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import type { AccessLog } from '../../log/access-log.ts'
import type { Logger } from '../../log/log.ts'
import type { SidePortAuth } from '../../net/http/side-port-auth.ts'
import type { Endpoint, OriginConfig } from '../../config/model/config.ts'
import type { Geo } from '../../access/files/geo.ts'
import type { GatewayDirectory } from '../../ai/gateway-directory.ts'
import type { ModelList } from '../../ai/providers/listed-models.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { CustomDirectory } from '../../ai/providers/custom-directory.ts'
import type { GatewayKeys } from '../../ai/providers/gateway-keys.ts'
import type { RouteDirectory } from '../../ai/route-directory.ts'
import type { PriceTable } from '../../ai/usage/prices.ts'
import type { GuardWebhooks } from '../../guard/webhook/guard-webhooks.ts'
import type { AnswerCache } from '../../answers/answer-cache.ts'
import type { ClaimedCalls } from '../../answers/claimed-calls.ts'
import type { BudgetHolder } from '../../budgets/budget-holder.ts'
import type { Counting } from '../../limits/limiter.ts'
import type { LogQueue } from '../../ai-logs/queue.ts'
import type { TallyBook } from '../../activity/tally-book.ts'
import type { SpanSink } from '../../telemetry/span.ts'
import type { TokenVerifier } from '../../tokens/verify.ts'
import type { StreamCheckpoints } from '../ai-call/stream-checkpoints.ts'
import type { Snapshot } from './snapshot.ts'

export interface AiServices {
  readonly tokens: TokenVerifier
  readonly gateways: GatewayDirectory
  readonly routes: RouteDirectory
  readonly custom: Pick<CustomDirectory, 'of' | 'follow'>
  readonly keys: Pick<GatewayKeys, 'of' | 'used'>
  readonly logs: LogQueue
  readonly budgets: Pick<BudgetHolder, 'reserve' | 'foretell'>
  readonly prices: Pick<PriceTable, 'costOf' | 'worstCost'>
  /** Null where nothing is called. */
  readonly answers: AnswerCache | null
  readonly claimed: ClaimedCalls | null
  /** Null where nothing is called. */
  readonly guardWebhooks: GuardWebhooks | null
  readonly issuer?: string | null
}

export interface SidePort {
  readonly endpoint: Endpoint
  /** Null if the edge does not serve it. */
  readonly issuer: Endpoint | null
  readonly secret: Uint8Array
}

/** What ends at a deadline, in monotonic ms, if not before. */
interface Overdue {
  readonly deadline: number
  expire(): void
}

export interface Plane {
  /** A reload replaces this one reference. */
  snapshot: Snapshot
  readonly clock: Clock
  /** As of the last tick: precise enough for deadlines, at no cost. */
  coarseNow: number
  /** In the format of Date (RFC 9110 section 5.6.7), formatted once a second. */
  date(): string
  readonly metrics: EdgeMetrics
  /** Logs at most once a minute. */
  noteShortage(failure: { readonly code?: string }): void
  readonly accessLog: AccessLog | null
  readonly log: Logger
  readonly spans: SpanSink | null
  readonly ai: AiServices | null
  /** The models that providers list. */
  readonly models: { of(provider: Provider, key: string | null, origin: OriginConfig): ModelList }
  readonly geo: Geo | null
  readonly limiter: Counting
  readonly tallies: TallyBook
  readonly sidePort: (Omit<SidePort, 'secret'> & { readonly auth: SidePortAuth }) | null
  /** Of the first TLS listener; plain HTTP is redirected to it unless a public port is set. */
  readonly securePort: number
  /** Without a trailing slash; null for the gateway's own pages on every host. */
  readonly documentation: string | null
  /** AI calls whose callers have left while their providers finish. */
  readonly abandoned: Set<Overdue>
  /** Of streams that have a budget. */
  readonly checkpoints: Pick<StreamCheckpoints, 'add'>
  /** Whether requests are only explained. */
  readonly isRehearsal: boolean
  /** Whether this sweep looks whether what gates have let in may stay open. */
  isReviewing: boolean
  isDraining: boolean
  isGoingAway: boolean
}
