// Audit entries in Redis: of each account the ids by time, and the entries by id. records.ts writes those that go with records.
import type { AuditEntry } from '../records.ts'
import type { AuditLog, AuditQuery, Listing } from '../store.ts'
import type { Connection } from './connection.ts'
import type { DurableWrites } from './durability.ts'
import { lua } from './script.ts'
import { auditArguments, auditKeys, auditLua } from './together.ts'

/** KEYS: times, entries. ARGV: id, time, json. */
const appendEntry = lua`${auditLua}
audit(KEYS[1], KEYS[2], unpack(ARGV))`

/** KEYS: times, entries. ARGV: the bounds of time, Z or ZREV for the direction, what lies before the first bound in it, offset, limit. */
const listEntries = lua`
local from, to, way, before, behind = unpack(ARGV, 1, 5)
local offset, limit = tonumber(ARGV[6]), tonumber(ARGV[7])
local total = redis.call('ZCOUNT', KEYS[1], from, to)
local count = math.min(limit, total - offset)
if count <= 0 then return {total, {}} end
local first = redis.call('ZCOUNT', KEYS[1], before, behind) + offset
local found = {}
for at, id in ipairs(redis.call(way .. 'RANGE', KEYS[1], first, first + count - 1)) do
  found[at] = redis.call('HGET', KEYS[2], id)
end
return {total, found}`

export class RedisAudit implements AuditLog {
  readonly #connection: Connection
  readonly #writes: DurableWrites

  constructor(connection: Connection, writes: DurableWrites) {
    this.#connection = connection
    this.#writes = writes
  }

  async list(account: string, query: AuditQuery): Promise<Listing<AuditEntry>> {
    const args = [...boundsOf(query), query.offset, query.limit]
    const found = await this.#connection.script(listEntries, auditKeys(account), args)
    const [total, texts] = found as [number, string[]]
    return { total, items: texts.map(text => JSON.parse(text)) }
  }

  async append(entry: AuditEntry): Promise<void> {
    await this.#writes.run(appendEntry, auditKeys(entry.account), auditArguments(entry))
  }
}

/** The first bound and the last, the direction, and the bounds of what that has before the first entry of the page. */
function boundsOf({ since, before, descending }: AuditQuery): readonly string[] {
  const from = since === null ? '-inf' : String(since)
  const to = before === null ? '+inf' : `(${before}`
  if (!descending) return [from, to, 'Z', '-inf', since === null ? '(-inf' : `(${since}`]
  return [from, to, 'ZREV', before === null ? '(+inf' : String(before), '+inf']
}
