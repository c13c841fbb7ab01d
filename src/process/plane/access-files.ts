// The files of access rules, opened before a configuration that names them takes effect.

import type { AccessMetrics } from '../../metrics/counters/access-metrics.ts'
import type { Logger } from '../../log/log.ts'
import type { Config } from '../../config/model/config.ts'
import { GeoDatabases } from '../../access/files/geo.ts'
import { AddressLists } from '../../access/files/lists.ts'
import type { AccessSources } from '../../access/policy.ts'

export class AccessFiles {
  readonly lists: AddressLists
  readonly geo: GeoDatabases

  constructor(log: Logger, metrics: AccessMetrics) {
    this.lists = new AddressLists({ log, metrics })
    this.geo = new GeoDatabases({ log, metrics })
  }

  /** Keeps files open that are already; rejects with a sentence. Call `keep` afterwards. */
  async open({ lists, geo }: Config): Promise<AccessSources> {
    return { lists: await this.lists.open(lists), geo: await this.geo.open(geo.databases) }
  }

  keep({ lists, geo }: Config): void {
    this.lists.keep(lists)
    this.geo.keep(geo.databases)
  }

  close(): void {
    this.lists.close()
    this.geo.close()
  }
}
