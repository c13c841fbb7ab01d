// The data plane as the gateway handles it, be it in this process or in workers.

import type { Snapshot } from '../../metrics/metrics.ts'
import type { Config, Endpoint } from '../../config/config.ts'
import type { KeyedCheckResult } from '../../edge/origin/health-checker.ts'
import type { PoolState } from '../../edge/origin/pools.ts'

export interface ManagedPlane {
  /** Whether somebody takes connections. */
  readonly isUp: boolean
  /** Starts to take connections and returns the real addresses; rejects with a sentence when one cannot be had. */
  listen(): Promise<readonly Endpoint[]>
  /** Swaps the configuration in one step; rejects and changes nothing when it does not build. */
  reload(config: Config): Promise<void>
  /** Takes no more connections and finishes what runs; what is left after `grace` ms is cut. */
  drain(grace: number): Promise<void>
  /** Ends everything within moments, so that clients see that their responses are cut. */
  cut(): Promise<void>
  /** Ends everything at once. */
  destroy(): void
  /** Takes what the active checks of origins found, also for processes that begin later. */
  takeChecks(results: readonly KeyedCheckResult[]): void
  /** Returns how each process sees its pools. */
  pools(): Promise<readonly (readonly PoolState[])[]>
  /** Returns what other processes have counted, those that ended included. */
  snapshots(): Promise<readonly Snapshot[]>
}
