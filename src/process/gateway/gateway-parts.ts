// The parts of a gateway.

import type { Logger } from '../../log/log.ts'
import type { Metrics, Snapshot } from '../../metrics/metrics.ts'
import type { Config, Endpoint } from '../../config/model/config.ts'
import type { LentRecord } from '../../store/cache/cache-handover.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Tally } from '../../store/records/tally.ts'
import type { SidePort } from '../../edge/snapshot/plane.ts'
import type { ManagedPlane } from '../plane/managed-plane.ts'
import type { AppParts } from '../side-port/built-apps.ts'
import type { SidePortApps } from '../side-port/side-port-apps.ts'
import type { ReloadReport, UpgradeReport } from '../handover/command-reports.ts'
import type { Inheritance } from '../handover/inheritance.ts'
import type { Management } from '../services/management.ts'
import type { Services } from '../services/services.ts'
import type { Timeouts } from '../side-port/timeouts.ts'

/**
 * The commands of an operator over the side port. Each resolves with a report, or the reason why it was not
 * done.
 */
interface OperatorCommands {
  /** Reads the configuration files again, and applies them. */
  readonly reload: () => Promise<string | ReloadReport>
  /** Replaces the process by one from the code on disk. */
  readonly upgrade: () => Promise<string | UpgradeReport>
}

export interface GatewayParts {
  readonly log: Logger
  readonly metrics: Metrics
  /** Absolute path of the configuration at start. */
  readonly file?: string
  /** Whether it replaces a running gateway. */
  readonly replaces?: boolean
  /** Sockets that are already bound. */
  readonly inherited?: Inheritance | null
  /** Returns the counts of previous gateways. */
  readonly countsBefore?: () => Promise<readonly Snapshot[]>
  /** Passes on cached store records of the previous gateway, at once and whenever there are more. */
  readonly loansBefore?: (take: (records: readonly LentRecord[]) => void) => void
  readonly commands: OperatorCommands
  /** Called with the reason while the start waits for an operator. */
  readonly waiting: (reason: string) => void
  /** Overrides of the defaults. */
  readonly timeouts?: Partial<Timeouts>
  /** `sidePort` returns the address of the side port, with the real port once it listens. */
  readonly openServices: (config: Config, sidePort: () => Endpoint) => Promise<Services>
  readonly openManagement: (config: Config, store: Store) => Promise<Management>
  /** Builds the apps that the side port serves besides the management API. */
  readonly openApps?: (parts: Omit<AppParts, 'metrics'>) => SidePortApps
  /** Builds the data plane, once the address of the side port is known. */
  readonly buildPlane: (config: Config, services: Services, shared: Shared) => ManagedPlane
}

/** What every process of the data plane needs. */
interface Shared {
  /** Base URL of the error documentation; null for the pages that the gateway has on every host. */
  readonly documentation: string | null
  readonly sidePort: SidePort
  /** Receives tallies of errors, rules and limits. */
  readonly tallied: (tallies: readonly Tally[]) => void
}
