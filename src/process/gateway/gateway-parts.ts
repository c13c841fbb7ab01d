// What a gateway is made of.

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

/** What an operator may command over the side port: each resolves with a report, or the reason why it was not done. */
interface OperatorCommands {
  /** Reads the files of the configuration again, and applies them. */
  readonly reload: () => Promise<string | ReloadReport>
  /** Replaces the process by one from the code on disk. */
  readonly upgrade: () => Promise<string | UpgradeReport>
}

export interface GatewayParts {
  readonly log: Logger
  readonly metrics: Metrics
  /** The absolute path of the file that it was started with. */
  readonly file?: string
  /** Whether it replaces the gateway that runs here. */
  readonly replaces?: boolean
  /** Sockets that are bound already. */
  readonly inherited?: Inheritance | null
  /** Returns what the gateways before this one counted. */
  readonly countsBefore?: () => Promise<readonly Snapshot[]>
  /** Passes on what the gateway before this one has cached of the store, at once and whenever there is more. */
  readonly loansBefore?: (take: (records: readonly LentRecord[]) => void) => void
  readonly commands: OperatorCommands
  /** Called with the reason while the start waits for an operator. */
  readonly waiting: (reason: string) => void
  /** Overrides of the defaults. */
  readonly timeouts?: Partial<Timeouts>
  /** `sidePort` returns where the side port is; its port is real once it listens. */
  readonly openServices: (config: Config, sidePort: () => Endpoint) => Promise<Services>
  readonly openManagement: (config: Config, store: Store) => Promise<Management>
  /** Builds what the side port serves beside the management API. */
  readonly openApps?: (parts: Omit<AppParts, 'metrics'>) => SidePortApps
  /** Builds the data plane, once the address of the side port is known. */
  readonly buildPlane: (config: Config, services: Services, shared: Shared) => ManagedPlane
}

/** What every process of the data plane needs. */
interface Shared {
  /** The base URL of the error documentation; null for the pages that the gateway has on every host. */
  readonly documentation: string | null
  readonly sidePort: SidePort
  /** Takes what was counted of errors, rules and limits. */
  readonly tallied: (tallies: readonly Tally[]) => void
}
