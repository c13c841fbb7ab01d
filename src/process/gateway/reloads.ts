// Reloads the configuration of a gateway when its files change, or on demand, one reload at a time, and reports how each went to those who asked for it.

import type { Changes } from '../../config/load/changes.ts'
import type { Loaded } from '../../config/load/load.ts'
import { type ConfigWatch, watchConfig } from '../../config/file/watch.ts'
import type { ServiceManager } from '../system/service-manager.ts'
import type { Assembly } from './assemble.ts'
import type { ReloadReport } from '../handover/command-reports.ts'
import { reload } from './reload.ts'

interface ReloadsParts {
  readonly assembly: Assembly
  /** The files that the gateway was started with. */
  readonly files: readonly string[]
  readonly service: ServiceManager
  /** What systemd shows of the service. */
  readonly status: () => string
  readonly load: () => Loaded
}

/** A report, or the reasons why nothing was applied. */
type Outcome = string | ReloadReport

export class Reloads {
  readonly #parts: ReloadsParts
  readonly #watch: ConfigWatch
  /** Those who wait for the next reload. */
  #asked: ((outcome: Outcome) => void)[] = []
  /** The last one that changed anything. */
  #latest: ReloadReport['latest'] = null
  #isClosed = false

  constructor(parts: ReloadsParts) {
    const { log } = parts.assembly
    this.#parts = parts
    this.#watch = watchConfig(parts.files, () => this.#reload(), {
      failed: error =>
        log.warn({ err: error }, 'configuration file watch failed, changes will not be noticed'),
    })
  }

  trigger(): void {
    this.#watch.trigger()
  }

  /** Reloads; resolves with what that changed once the configuration is applied, or with the reasons why it is not. */
  request(): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    if (this.#isClosed) resolve(stopping)
    else this.#asked.push(resolve)
    this.trigger()
    return promise
  }

  close(): void {
    this.#isClosed = true
    this.#watch.close()
    this.#tell(this.#asked.splice(0), stopping)
  }

  async #reload(): Promise<void> {
    const { service, status } = this.#parts
    // Whoever asks from now on wants to know of the next one.
    const asked = this.#asked.splice(0)
    service.reloading()
    const outcome = await this.#attempt()
    service.reloaded(status())
    this.#tell(asked, outcome)
  }

  /** Leaves the previous configuration in effect after a bug, too: nothing of the new one is applied before the commit. */
  async #attempt(): Promise<Outcome> {
    const { assembly, load } = this.#parts
    try {
      const loaded = load()
      this.#watch.follow(loaded.files)
      const outcome = await reload(loaded, assembly)
      return typeof outcome === 'string' ? outcome : this.#reportOf(outcome)
    } catch (bug) {
      assembly.metrics.reloads.failure.inc()
      assembly.log.error({ err: bug }, 'configuration reload failed, keeping the previous one')
      return 'internal error; see the log'
    }
  }

  #reportOf(changes: Changes): ReloadReport {
    if (Object.values(changes).some(({ length }) => length > 0))
      this.#latest = { ...changes, at: new Date().toISOString() }
    return { ...changes, latest: this.#latest }
  }

  #tell(asked: readonly ((outcome: Outcome) => void)[], outcome: Outcome): void {
    for (const tell of asked) tell(outcome)
  }
}

const stopping = 'the gateway is stopping'
