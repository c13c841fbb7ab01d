// The files that access rules use, address lists and geographic databases, of one data plane: loaded before a configuration that names them takes effect.

import type { AccessMetrics } from '../../metrics/counters/access-metrics.ts'
import type { Logger } from '../../log/log.ts'
import type { Config } from '../../config/model/config.ts'
import { GeoDatabases } from '../../access/files/geo.ts'
import { AddressLists } from '../../access/files/lists.ts'
import type { AccessSources } from '../../access/policy.ts'

export class AccessFiles implements AccessSources {
  readonly lists: AddressLists
  readonly geo: GeoDatabases

  constructor(log: Logger, metrics: AccessMetrics) {
    this.lists = new AddressLists({ log, metrics })
    this.geo = new GeoDatabases({ log, metrics })
  }

  /** Loads the files that a configuration adds; when one is invalid, rejects with a sentence and keeps the previous state. */
  async prepare({ lists, geo }: Config, before: Config): Promise<void> {
    await this.lists.prepare(lists)
    try {
      await this.geo.prepare(geo.databases)
    } catch (cause) {
      await this.lists.prepare(before.lists)
      throw cause
    }
  }

  /** Forgets what the configuration in effect does not name. */
  settle(): void {
    this.lists.keep()
  }

  close(): void {
    this.lists.close()
    this.geo.close()
  }
}
