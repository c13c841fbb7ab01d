// The data plane as the gateway manages it, in this process or in workers.

import type { ListeningSocket } from '../../net/socket/listening-socket.ts'
import type { Snapshot } from '../../metrics/metrics.ts'
import type { Config, Listener } from '../../config/model/config.ts'
import type { KeyedCheckResult } from '../../edge/origin/health/health-checker.ts'
import type { TicketKeySet } from '../../tls/ticket-keys.ts'
import type { AutomaticTls } from '../../certificates/acme/automatic.ts'
import type { NearKey } from '../../limits/near-keys.ts'
import type { ProviderInProcess } from '../../edge/ai/provider-states.ts'
import type { PoolState } from '../../edge/origin/pools.ts'
import type { Explained, RequestInQuestion } from '../../zones/explanation.ts'

export interface PreparedEverywhere {
  /** Cannot fail: a process that does not follow is replaced. Resolves once all serve it. */
  commit(checks: readonly KeyedCheckResult[]): Promise<void> | void
}

export interface ManagedPlane {
  readonly isUp: boolean
  /** Returns the real addresses; rejects with a sentence. Listeners that already have sockets bind none. */
  listen(sockets?: readonly ListeningSocket[]): Promise<readonly Listener[]>
  /** The sockets that its processes accept from, for a replacement to share. */
  readonly sockets: readonly ListeningSocket[]
  prepare(config: Config): Promise<PreparedEverywhere>
  /** Accepts no more connections and finishes running requests; those left after `grace` ms are cut. */
  drain(grace: number): Promise<void>
  /** Ends everything within moments, so that clients see that their responses are truncated. */
  cut(): Promise<void>
  destroy(): void
  /** Also for processes that start later. */
  takeChecks(results: readonly KeyedCheckResult[]): void
  /** Also for processes that start later. */
  takeTicketKeys(keys: TicketKeySet): void
  /** Also for processes that start later; resolves once every process serves them. */
  takeCertificates(automatic: AutomaticTls): Promise<void>
  nearLimits(names: readonly string[]): Promise<readonly (readonly NearKey[])[]>
  pools(): Promise<readonly (readonly PoolState[])[]>
  providers(): Promise<readonly (readonly ProviderInProcess[])[]>
  /** Null if no process responds. */
  explain(question: RequestInQuestion): Promise<Explained | null>
  /** Of other processes, including those that ended. */
  snapshots(): Promise<readonly Snapshot[]>
}
