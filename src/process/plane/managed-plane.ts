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

/** A configuration that every process is ready to serve. */
export interface PreparedEverywhere {
  /**
   * Applies it in one step, with the last results of all checks. Nothing in it can fail: a process that does
   * not follow is replaced. The promise resolves once every process serves the configuration.
   */
  commit(checks: readonly KeyedCheckResult[]): Promise<void> | void
}

export interface ManagedPlane {
  /** Whether any process accepts connections. */
  readonly isUp: boolean
  /**
   * Starts to accept connections and returns the real addresses; rejects with a sentence when one is not
   * available. Listeners that already have sockets bind none.
   */
  listen(sockets?: readonly ListeningSocket[]): Promise<readonly Listener[]>
  /** The sockets that its processes accept from, for a replacement to share. */
  readonly sockets: readonly ListeningSocket[]
  /** Prepares another configuration in every process; when one cannot, rejects and changes nothing. */
  prepare(config: Config): Promise<PreparedEverywhere>
  /** Accepts no more connections and finishes running requests; those left after `grace` ms are cut. */
  drain(grace: number): Promise<void>
  /** Ends everything within moments, so that clients see that their responses are truncated. */
  cut(): Promise<void>
  /** Ends everything at once. */
  destroy(): void
  /** Receives the results of active checks, also for processes that start later. */
  takeChecks(results: readonly KeyedCheckResult[]): void
  /** Receives the keys that encrypt TLS sessions, also for processes that start later. */
  takeTicketKeys(keys: TicketKeySet): void
  /**
   * Serves these automatic certificates, also in processes that start later; resolves once every process
   * does.
   */
  takeCertificates(automatic: AutomaticTls): Promise<void>
  /** Returns for each process the keys closest to the limits of these names. */
  nearLimits(names: readonly string[]): Promise<readonly (readonly NearKey[])[]>
  /** Returns each process's view of its pools. */
  pools(): Promise<readonly (readonly PoolState[])[]>
  /** Returns each process's view of the AI providers. */
  providers(): Promise<readonly (readonly ProviderInProcess[])[]>
  /**
   * Explains what would happen to a request, as one of the processes sees it; null if no process responds.
   */
  explain(asked: RequestInQuestion): Promise<Explained | null>
  /** Returns the counts of other processes, including those that ended. */
  snapshots(): Promise<readonly Snapshot[]>
}
