// Audit entries in Redis: for each account the entries by id, and their ids by time, for all actors and for
// each.

import { nextTurn } from '../../base/turns/turns.ts'
import type { AuditEntry, DroppedEntries } from '../records/records.ts'
import type { AuditLimit, AuditLog, AuditQuery, DropTeller, Listing } from '../contract/store.ts'
import type { Argument } from './server/connect.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { keys } from './server/keys.ts'
import { lua, rankLua } from './server/script.ts'
import { auditArguments, auditKeys, auditLua } from './companion-writes.ts'

/** Entries per read and per removal, so that neither blocks the server or this process for long. */
const readStep = 200
const trimStep = 200

/** KEYS: times, entries, actors, times of the actor. ARGV: id, time, json, actor. */
const appendEntry = lua`${auditLua}
audit(KEYS[1], KEYS[2], KEYS[3], KEYS[4], unpack(ARGV))`

/**
 * KEYS: times, entries. ARGV: the bounds of time, Z or ZREV for the direction, the range before the first
 * bound in that direction, offset, limit, and then time and id of the entry before the first, if any.
 */
const listEntries = lua`${rankLua}
local from, to, way, low, high = unpack(ARGV, 1, 5)
local offset, limit = tonumber(ARGV[6]), tonumber(ARGV[7])
local time, place = ARGV[8], ARGV[9]
local total = redis.call('ZCOUNT', KEYS[1], from, to)
local start = redis.call('ZCOUNT', KEYS[1], low, high)
local last = start + total
local first = start
if place then first = math.max(first, behind(KEYS[1], way, time, place)) end
first = first + offset
local count = math.min(limit, last - first)
if count <= 0 then return {total, {}} end
local entries = {}
for at, id in ipairs(redis.call(way .. 'RANGE', KEYS[1], first, first + count - 1)) do
  entries[at] = redis.call('HGET', KEYS[2], id)
end
return {total, entries}`

/** KEYS: times of the actor. ARGV: limit. */
const oldestEntries = lua`
return {redis.call('ZCARD', KEYS[1]), redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')}`

/**
 * Removes entries of one actor and writes the entry that reports it; returns 0, and does nothing, if one of
 * them is gone. KEYS: those of the actor, and the times of the reporting actor. ARGV: the actor, id, time,
 * JSON and actor of the entry (empty for none), and ids.
 */
const dropEntries = lua`
local actor, id, at, json, teller = unpack(ARGV, 1, 5)
for i = 6, #ARGV do
  if not redis.call('ZRANK', KEYS[4], ARGV[i]) then return 0 end
end
if json ~= '' then
  redis.call('HSET', KEYS[2], id, json)
  redis.call('ZADD', KEYS[1], at, id)
  redis.call('ZADD', KEYS[3], 0, teller)
  redis.call('ZADD', KEYS[5], at, id)
end
for i = 6, #ARGV do
  redis.call('ZREM', KEYS[1], ARGV[i])
  redis.call('ZREM', KEYS[4], ARGV[i])
  redis.call('HDEL', KEYS[2], ARGV[i])
end
if redis.call('ZCARD', KEYS[4]) == 0 then redis.call('ZREM', KEYS[3], actor) end
return 1`

interface Surplus {
  readonly ids: readonly string[]
  readonly from: number
  readonly to: number
}

export class RedisAudit implements AuditLog {
  readonly #connection: Reader
  readonly #writes: DurableWrites

  constructor(connection: Reader, writes: DurableWrites) {
    this.#connection = connection
    this.#writes = writes
  }

  async list(account: string, query: AuditQuery): Promise<Listing<AuditEntry>> {
    const homes = [keys.auditTimes(account), keys.auditEntries(account)]
    const items: AuditEntry[] = []
    for (let { offset, after = null } = query; ; offset = 0) {
      const limit = Math.min(readStep, query.limit - items.length)
      const place = after === null ? [] : [after.at, after.id]
      const args: readonly Argument[] = [...boundsOf(query), offset, limit, ...place]
      const [total, texts] = (await this.#connection.script(listEntries, homes, args)) as [number, string[]]
      for (const text of texts) items.push(JSON.parse(text))
      if (texts.length < limit || items.length >= query.limit) return { total, items }
      after = items.at(-1)!
      await nextTurn()
    }
  }

  async append(entry: AuditEntry): Promise<void> {
    await this.#writes.run(appendEntry, auditKeys(entry.account, entry.actor), auditArguments(entry))
  }

  async trim(account: string, limit: AuditLimit, tell: DropTeller): Promise<readonly AuditEntry[]> {
    const actors = await this.#connection.run(['ZRANGE', keys.auditActors(account), 0, -1])
    const removed: AuditEntry[] = []
    for (const actor of actors as string[]) {
      const entry = await this.#trimActor(account, actor, limit, tell)
      if (entry) removed.push(entry)
    }
    return removed
  }

  /** Removes an actor's entries beyond its maximum, and returns the entry that reports it, if any. */
  async #trimActor(account: string, actor: string, limit: AuditLimit, tell: DropTeller) {
    let dropped: DroppedEntries | null = null
    let removed: AuditEntry | null = null
    for (;;) {
      const surplus = await this.#surplus(account, actor, limit)
      if (surplus === null) return removed
      const { ids, from, to } = surplus
      const next: DroppedEntries = {
        count: (dropped?.count ?? 0) + ids.length,
        from: dropped?.from ?? from,
        to,
      }
      const entry = tell(actor, next)
      const homes = [...auditKeys(account, actor), keys.auditTimesOf(account, entry?.actor ?? '')]
      const args = [actor, ...(entry ? auditArguments(entry) : ['', '', '', '']), ...ids]
      // Otherwise another process has removed some of them in the meantime.
      if ((await this.#writes.run(dropEntries, homes, args)) !== 1) continue
      dropped = next
      removed = entry
    }
  }

  async #surplus(account: string, actor: string, { before, maxOf }: AuditLimit): Promise<Surplus | null> {
    const homes = [keys.auditTimesOf(account, actor)]
    const reply = await this.#connection.script(oldestEntries, homes, [trimStep])
    const [count, oldest] = reply as [number, string[]]
    const excess = count - maxOf(actor)
    const entries = Array.from({ length: oldest.length / 2 }, (_, i) => ({
      id: oldest[2 * i]!,
      at: Number(oldest[2 * i + 1]),
    }))
    const surplus = entries.filter(({ at }, i) => i < excess || at < before)
    const [first, last] = [surplus[0], surplus.at(-1)]
    return first && last ? { ids: surplus.map(({ id }) => id), from: first.at, to: last.at } : null
  }
}

function boundsOf({ since, before, descending }: AuditQuery): readonly string[] {
  const from = since === null ? '-inf' : String(since)
  const to = before === null ? '+inf' : `(${before}`
  if (!descending) return [from, to, 'Z', '-inf', since === null ? '(-inf' : `(${since}`]
  return [from, to, 'ZREV', before === null ? '(+inf' : String(before), '+inf']
}
