// The model routes of gateways in Redis. The scripts of records tie them to their gateway.

import type { Clock } from '../../base/clock.ts'
import type { ModelRoute } from '../records/model-route.ts'
import type { ModelRoutes, Versioned } from '../contract/store.ts'
import { RedisRecords } from './records.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'

export class RedisModelRoutes extends RedisRecords<ModelRoute> implements ModelRoutes {
  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    super(
      { kind: 'model_route', marks: ({ account, name }) => nameOf(account, name) },
      connection,
      writes,
      clock,
    )
  }

  find(owner: string, name: string): Promise<Versioned<ModelRoute> | null> {
    return this.findByName(nameOf(owner, name))
  }
}

/** Names may have spaces, which separate the parts of a stored record. */
function nameOf(owner: string, name: string): string {
  return `${owner}/${encodeURIComponent(name)}`
}
