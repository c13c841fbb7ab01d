// Removes the logs of gateways that were removed. They lie in another slot of a cluster than the gateway and can't go with it in one
// step; nobody finds them from then on, and whoever notices the removal clears them away, again later for what was on its way meanwhile.

import type { Connection } from './server/connection.ts'
import { keys, logKeys } from './server/keys.ts'
import { lua } from './server/script.ts'

/** For how long a write to removed logs may still be on its way, in ms. */
const unrest = 60_000
const mostAtOnce = 100

/** Returns the oldest graves, and for each whether it is at rest. Versions, and so the scores, are µs. */
const openGraves = lua`
local time, found = redis.call('TIME'), {}
local limit = time[1] * 1000000 + time[2] - ARGV[1] * 1000
local graves = redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1, 'WITHSCORES')
for at = 1, #graves, 2 do
  found[at], found[at + 1] = graves[at], tonumber(graves[at + 1]) < limit and 1 or 0
end
return found`

export class RemovedGateways {
  readonly #records: Connection
  readonly #logs: Connection
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(records: Connection, logs: Connection) {
    this.#records = records
    this.#logs = logs
  }

  /** Clears what is left of removed gateways, and once more when nothing can come after; where the store is unreachable, at the next occasion. */
  async clear(): Promise<void> {
    try {
      const found = (await this.#records.script(openGraves, [keys.graves], [unrest, mostAtOnce])) as (
        | string
        | number
      )[]
      for (let at = 0; at < found.length; at += 2)
        await this.#clearOne(String(found[at]), found[at + 1] === 1)
      if (found.length > 0) this.#clearLater()
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
