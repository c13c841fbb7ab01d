// Reads of records that count only if the server has every change that was seen in the store: anything
// missing would otherwise count as removed.

import { StoreUnreachable } from '../contract/store.ts'
import type { Mark, Seen } from '../contract/mark.ts'
import type { Trust } from '../contract/trust.ts'
import type { Argument, Command } from './server/connect.ts'
import type { Connection, Reader } from './server/connection.ts'
import { markIn, readingOfMark } from './server/mark-text.ts'
import type { Replicas } from './server/replicas.ts'
import { lua, type Script } from './server/script.ts'

export class TrustedReader implements Reader {
  readonly #connection: Connection
  readonly #trust: Trust
  readonly #replicas: Pick<Replicas, 'needed'>

  constructor(connection: Connection, trust: Trust, replicas: Pick<Replicas, 'needed'>) {
    this.#connection = connection
    this.#trust = trust
    this.#replicas = replicas
  }

  run(command: Command): Promise<unknown> {
    const { seen } = this.#trust
    if (seen === null) return this.#connection.run(command)
    // Sent on one connection, so that they come from one server and in this order.
    return this.#checked(Promise.all([this.#connection.run(command), readMark(this.#connection)]), seen)
  }

  script(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const { seen } = this.#trust
    const run = this.#connection.script(script, keys, args)
    return seen === null ? run : this.#checked(this.#withMark(run), seen)
  }

  /** Reads the mark after the result: a script may have to be sent twice. */
  async #withMark(run: Promise<unknown>): Promise<readonly [unknown, Mark | null]> {
    const { epoch } = this.#connection
    const result = await run
    const mark = await readMark(this.#connection)
    if (this.#connection.epoch !== epoch) throw new StoreUnreachable()
    return [result, mark]
  }

  async #checked(reading: Promise<readonly [unknown, Mark | null]>, seenBefore: Seen): Promise<unknown> {
    const [result, mark] = await reading
    // With replicas, what was read may be lost in a failover until a proof covers it.
    this.#trust.check(mark, seenBefore, this.#replicas.needed === 0)
    return result
  }
}

export async function readMark(connection: Pick<Connection, 'run'>): Promise<Mark | null> {
  return markIn(await connection.run(readingOfMark))
}

/**
 * KEYS: mark, accounts. ARGV: identity, the minimum generation, and the identity that it replaces, `always`
 * for any other. Returns the mark. A store of an earlier version that contains accounts counts as generation
 * 1.
 */
export const setMark = lua`
local identity, generation, last = string.match(redis.call('GET', KEYS[1]) or '- 0 0', '^(%S+) (%d+) (%d+)$')
if identity == '-' or identity == ARGV[3] or ARGV[3] == 'always' then identity = ARGV[1] end
local minGeneration = math.max(ARGV[2], math.min(redis.call('HLEN', KEYS[2]), 1))
local text = identity .. ' ' .. string.format('%.0f', math.max(generation, minGeneration)) .. ' ' .. last
redis.call('SET', KEYS[1], text)
return text`
