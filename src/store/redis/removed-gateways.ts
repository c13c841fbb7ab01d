// Deletes the logs of removed gateways, which a cluster keeps in another slot than the gateway: whoever
// notices the removal deletes them, and again later for late writes.

import type { Connection } from './server/connection.ts'
import { keys, logKeys } from './server/keys.ts'
import { lua } from './server/script.ts'

/** How long a write to removed logs may still be in flight, in ms. */
const unrest = 60_000
const maxAtOnce = 100

/**
 * Returns the oldest graves, and whether late writes can no longer arrive for each. Versions, and therefore
 * the scores, are in µs.
 */
const openGraves = lua`
local time, reply = redis.call('TIME'), {}
local limit = time[1] * 1000000 + time[2] - ARGV[1] * 1000
local graves = redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1, 'WITHSCORES')
for at = 1, #graves, 2 do
  reply[at], reply[at + 1] = graves[at], tonumber(graves[at + 1]) < limit and 1 or 0
end
return reply`

export class RemovedGateways {
  readonly #records: Connection
  readonly #logs: Connection
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(records: Connection, logs: Connection) {
    this.#records = records
    this.#logs = logs
  }

  /** Deletes what remains of removed gateways, and again once no late writes can arrive. */
  async clear(): Promise<void> {
    try {
      const graves = (await this.#records.script(openGraves, [keys.graves], [unrest, maxAtOnce])) as (
        | string
        | number
      )[]
      for (let at = 0; at < graves.length; at += 2)
        await this.#clearOne(String(graves[at]), graves[at + 1] === 1)
      if (graves.length > 0) this.#clearLater()
    } catch {
      this.#clearLater()
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #clearOne(grave: string, isAtRest: boolean): Promise<void> {
    const [account, gateway, birth] = grave.split('/')
    await this.#logs.run(['UNLINK', ...logKeys(account!, gateway!, birth!)])
    if (isAtRest) await this.#records.run(['ZREM', keys.graves, grave])
  }

  #clearLater(): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => this.clear(), unrest).unref()
  }
}
