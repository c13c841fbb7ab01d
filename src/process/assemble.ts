// Builds every object of a gateway by hand, in the order of their ranks. No container: this file is the wiring.

import { availableParallelism } from 'node:os'
import { createLogger, type Logger, openLog } from '../base/log.ts'
import { Metrics } from '../base/metrics.ts'
import type { Config } from '../config/schema.ts'
import { Gateway } from './gateway.ts'
import { LocalPlane } from './local-plane.ts'
import { Supervisor } from './supervisor.ts'
import { version } from './version.ts'

export interface Assembly {
  readonly gateway: Gateway
  readonly metrics: Metrics
  readonly log: Logger
  /** Writes what the log still holds. */
  readonly flush: () => void
}

export function assemble(config: Config): Assembly {
  const destination = openLog()
  const log = createLogger(config.log.level, destination)
  const metrics = new Metrics(version)
  const workers = config.workers === 'auto' ? availableParallelism() : config.workers
  const gateway = new Gateway(config, {
    log,
    metrics,
    buildPlane: (config, documentation) =>
      workers === 0
        ? new LocalPlane(config, { documentation, metrics, destination, log, reusePort: false })
        : new Supervisor(workers, config, { documentation, metrics, log }),
  })
  return { gateway, metrics, log, flush: () => destination.flushSync() }
}
