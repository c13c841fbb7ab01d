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

interface OperatorCommands {
  readonly reload: () => Promise<string | ReloadReport>
  readonly upgrade: () => Promise<string | UpgradeReport>
}

export interface GatewayParts {
  readonly log: Logger
  readonly metrics: Metrics
  readonly file?: string
  readonly replaces?: boolean
  readonly inherited?: Inheritance | null
  readonly countsBefore?: () => Promise<readonly Snapshot[]>
  /** Passes on cached store records of the previous gateway, at once and whenever there are more. */
  readonly loansBefore?: (take: (records: readonly LentRecord[]) => void) => void
  readonly commands: OperatorCommands
  /** Called with the reason while the start waits for an operator. */
  readonly waiting: (reason: string) => void
  readonly timeouts?: Partial<Timeouts>
  /** `sidePort` returns the address of the side port, with the real port once it listens. */
  readonly openServices: (config: Config, sidePort: () => Endpoint) => Promise<Services>
  readonly openManagement: (config: Config, store: Store) => Promise<Management>
  readonly openApps?: (parts: Omit<AppParts, 'metrics'>) => SidePortApps
  readonly buildPlane: (config: Config, services: Services, shared: Shared) => ManagedPlane
}

interface Shared {
  /** Base URL of the error documentation; null for the pages that the gateway has on every host. */
  readonly documentation: string | null
  readonly sidePort: SidePort
  readonly tallied: (tallies: readonly Tally[]) => void
}
