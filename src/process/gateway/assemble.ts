// Builds every object of a gateway by hand, in the order of their ranks.

import { availableParallelism } from 'node:os'
import type { LineWriter } from '../../log/line-writer.ts'
import { createLogger, type Logger } from '../../log/log.ts'
import { Metrics, type Snapshot } from '../../metrics/metrics.ts'
import type { Config } from '../../config/model/config.ts'
import type { Inheritance } from '../handover/inheritance.ts'
import { SidePortApps } from '../side-port/side-port-apps.ts'
import { Gateway } from './gateway.ts'
import type { GatewayParts } from './gateway-parts.ts'
import { LocalPlane } from '../plane/local-plane.ts'
import { openOutput } from '../terminal/log-output.ts'
import { Management } from '../services/management.ts'
import { Services } from '../services/services.ts'
import { StoreKeeper } from '../store/store-keeper.ts'
import { Supervisor } from '../workers/supervisor.ts'
import { version } from '../system/version.ts'

/** Whether processes can share a port, as workers do, and a gateway with its replacement. */
const canShare = process.platform === 'linux'

export interface Assembly {
  readonly gateway: Gateway
  readonly metrics: Metrics
  readonly log: Logger
  readonly destination: LineWriter
}

interface Circumstances extends Pick<GatewayParts, 'commands' | 'waiting'> {
  readonly file: string
  readonly replaces: boolean
  readonly inherited: Inheritance | null
  readonly countsBefore: () => Promise<readonly Snapshot[]>
  readonly loansBefore: NonNullable<GatewayParts['loansBefore']>
}

export function assemble(config: Config, circumstances: Circumstances): Assembly {
  const metrics = new Metrics(version)
  const { level, numeric } = config.log
  const destination = openOutput(metrics.droppedLogLines, numeric)
  const log = createLogger(level, destination, numeric)
  const workers = config.workers === 'auto' ? availableParallelism() : config.workers
  const gateway = new Gateway(config, {
    log,
    metrics,
    ...circumstances,
    openServices: (config, sidePort) =>
      Services.open(config, {
        ...{ metrics: metrics.edge, log, sidePort, writesCopy: true },
        keeper: new StoreKeeper(log),
      }),
    openManagement: (config, store) => Management.open(config, store, metrics, log),
    openApps: parts => new SidePortApps({ ...parts, metrics: metrics.people }),
    buildPlane: (config, services, shared) =>
      workers === 0
        ? new LocalPlane(config, { ...shared, metrics, destination, log, services, reusePort: canShare })
        : new Supervisor(workers, config, {
            ...{ ...shared, metrics, log },
            openFiles: services.store.openFiles,
            trust: services.store.trust,
            cache: services,
          }),
  })
  return { gateway, metrics, log, destination }
}
