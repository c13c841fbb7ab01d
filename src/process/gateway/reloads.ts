// Reloads the configuration, one reload at a time: as a whole, or not at all.

import type { Logger } from '../../log/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { formatMistake } from '../../config/file/mistake.ts'
import { type ConfigWatch, watchConfig } from '../../config/file/watch.ts'
import { type Changes, changesBetween } from '../../config/load/changes.ts'
import type { Loaded } from '../../config/load/load.ts'
import type { Config } from '../../config/model/config.ts'
import type { ReloadReport } from '../handover/command-reports.ts'
import type { ServiceManager } from '../system/service-manager.ts'
import { restartOnlyIn } from './restart-only.ts'

interface Reloadable {
  readonly config: Config
  /** Rejects with a sentence, and changes nothing, when any part of it cannot be prepared. */
  reload(config: Config): Promise<void>
}

interface ReloadsParts {
  readonly gateway: Reloadable
  readonly log: Logger
  readonly counts: Metrics['reloads']
  readonly files: readonly string[]
  readonly load: () => Loaded
  readonly service: Pick<ServiceManager, 'reloading' | 'reloaded'>
  readonly status: () => string
}

type Outcome = string | ReloadReport

export class Reloads {
  readonly #parts: ReloadsParts
  readonly #watch: ConfigWatch
  #waiting: ((outcome: Outcome) => void)[] = []
  #latest: ReloadReport['latest'] = null
  #isClosed = false

  constructor(parts: ReloadsParts) {
    const { files, log } = parts
    this.#parts = parts
    this.#watch = watchConfig(files, () => this.#reload(), {
      failed: error =>
        log.warn({ err: error }, 'configuration file watch failed, changes will not be noticed'),
    })
  }

  trigger(): void {
    this.#watch.trigger()
  }

  request(): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    if (this.#isClosed) resolve(stopping)
    else this.#waiting.push(resolve)
    this.trigger()
    return promise
  }

  close(): void {
    this.#isClosed = true
    this.#watch.close()
    for (const settle of this.#waiting.splice(0)) settle(stopping)
  }

  async #reload(): Promise<void> {
    const { service, status, counts } = this.#parts
    // Requests from now on are for the next reload.
    const waiting = this.#waiting.splice(0)
    service.reloading()
    const outcome = await this.#attempt()
    counts[typeof outcome === 'string' ? 'failure' : 'success'].inc()
    service.reloaded(status())
    for (const settle of waiting) settle(outcome)
  }

  /** Leaves the previous configuration in effect even after a bug: the commit comes last, and cannot fail. */
  async #attempt(): Promise<Outcome> {
    const { load, gateway, log } = this.#parts
    try {
      const loaded = load()
      this.#watch.follow(loaded.files)
      if ('mistakes' in loaded) return this.#reject(mistakesIn(loaded))
      const changes = changesBetween(gateway.config, loaded.config)
      const fixed = restartOnlyIn(changes)
      if (fixed.length > 0)
        return this.#reject([`restart required to change ${fixed.join(', ')}: run gatehouse upgrade`])
      const obstacle = await gateway.reload(loaded.config).catch((cause: Error) => cause)
      if (obstacle instanceof Error) return this.#reject([obstacle.message])
      logWarnings(loaded, log)
      log.info('configuration reloaded')
      return this.#reportOf(changes)
    } catch (bug) {
      log.error({ err: bug }, failed)
      return 'internal error; see the log'
    }
  }

  #reject(reasons: readonly string[]): string {
    for (const reason of reasons) this.#parts.log.error({ reason }, failed)
    return reasons.join('\n')
  }

  #reportOf(changes: Changes): ReloadReport {
    if (Object.values(changes).some(({ length }) => length > 0))
      this.#latest = { ...changes, at: new Date().toISOString() }
    return { ...changes, latest: this.#latest }
  }
}

export function mistakesIn(loaded: Loaded): readonly string[] {
  return 'mistakes' in loaded ? loaded.mistakes.map(mistake => formatMistake(loaded.files[0]!, mistake)) : []
}

export function logWarnings(loaded: Loaded, log: Logger): void {
  if ('mistakes' in loaded) return
  for (const warning of loaded.warnings) log.warn(formatMistake(loaded.files[0]!, warning))
}

const failed = 'configuration reload failed, keeping the previous one'
const stopping = 'the gateway is stopping'
