// A data plane in this process, with its log: the whole of it without workers, or what one worker holds.

import { AccessLog, type LogDestination, type Logger } from '../base/log.ts'
import type { Metrics, Snapshot } from '../base/metrics.ts'
import type { Config, Endpoint } from '../config/schema.ts'
import { DataPlane } from '../edge/data-plane.ts'
import { listenFailure } from './listen-failure.ts'
import type { ManagedPlane } from './managed-plane.ts'
import type { Services } from './services.ts'

export interface LocalPlaneParts {
  readonly documentation: string
  readonly metrics: Metrics
  readonly destination: LogDestination
  readonly log: Logger
  readonly ai: Services
  /** Whether other processes listen on the same addresses. */
  readonly reusePort: boolean
}

export class LocalPlane implements ManagedPlane {
  readonly #plane: DataPlane
  readonly #accessLog: AccessLog | null
  readonly #log: Logger
  readonly #reusePort: boolean
  #isUp = false

  constructor(config: Config, { documentation, metrics, destination, log, ai, reusePort }: LocalPlaneParts) {
    this.#log = log
    this.#reusePort = reusePort
    this.#accessLog = config.log.access ? new AccessLog(destination, config.log.sample) : null
    const accessLog = this.#accessLog
    this.#plane = new DataPlane(config, { documentation, metrics: metrics.edge, accessLog, log, ai })
  }

  get isUp(): boolean {
    return this.#isUp
  }

  async listen(): Promise<readonly Endpoint[]> {
    try {
      const endpoints = await this.#plane.listen({ reusePort: this.#reusePort })
      this.#isUp = true
      return endpoints
    } catch (cause) {
      throw listenFailure(cause)
    }
  }

  async reload(config: Config): Promise<void> {
    this.#plane.reload(config)
    this.#log.level = config.log.level
    this.#accessLog?.resample(config.log.sample)
  }

  drain(grace: number): Promise<void> {
    this.#isUp = false
    return this.#plane.drain(grace)
  }

  destroy(): void {
    this.#isUp = false
    this.#plane.destroy()
  }

  async snapshots(): Promise<readonly Snapshot[]> {
    return []
  }
}
