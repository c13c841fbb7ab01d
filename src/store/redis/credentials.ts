// Credentials in Redis, each a key that expires. A sorted set per owner has them by expiry; removed ones stay
// in it until then, or until they are noticed.

import type { Clock } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import {
  type Consumption,
  type Credential,
  type CredentialKind,
  type CredentialOwner,
  type Exchange,
  type Exchanged,
  isDigest,
  jsonOf,
  narrowest,
  type Succession,
} from '../records/credential.ts'
import type { Credentials } from '../contract/store.ts'
import { changeChannel, keys } from './server/keys.ts'
import { stampLua } from './record-scripts.ts'
import { serverClockLua, shiftOf } from './server/clock.ts'
import type { Argument } from './server/connect.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { lua } from './server/script.ts'

/** The number of an owner's credentials that one step reads, and that one step removes. */
const step = 200

/** Expired members removed from an owner's set with each new one, so that no write takes long. */
const sweepSize = 20

/**
 * The letter of a kind in a sorted set, before the name: small sets take half the memory as long as no member
 * is longer than 64 bytes.
 */
const letters: Readonly<Record<CredentialKind, string>> = {
  session: 's',
  invitation: 'i',
  interaction: 'n',
  oidc_session: 'o',
  authorization_code: 'c',
  access_token: 'a',
  refresh_token: 'r',
  sign_in: 'g',
  ended_family: 'e',
  token_family: 'f',
  site_code: 'd',
  site_session: 't',
  client_assertion: 'j',
}

/** A credential is stored as `expiresAt consumedAt user client grant createdAt data`, with - for null. */
const partsLua = `
local function alive(text, time)
  return text and tonumber(string.match(text, '^%S+')) > time
end

local function keep(key, expires, text, shift)
  redis.call('SET', key, text)
  redis.call('PEXPIREAT', key, expires - shift)
end
`

/**
 * Puts credentials whose keys and arguments follow the given indexes: for each one 4 keys, its own and those
 * of its owners, then its 7 parts and its member in sorted sets.
 */
const putLua = `
local function put(keys, args, count, time, shift)
  for i = 0, count - 1 do
    local key = KEYS[keys + 4 * i + 1]
    local first = args + 8 * i + 1
    local parts, member = {unpack(ARGV, first, first + 6)}, ARGV[first + 7]
    local expires, old = tonumber(parts[1]), redis.call('GET', key)
    local consumed = alive(old, time) and string.match(old, '^%S+ (%S+)')
    if consumed and consumed ~= '-' then parts[2] = consumed end
    keep(key, expires, table.concat(parts, ' '), shift)
    for owner = 3, 5 do
      if parts[owner] ~= '-' then
        local all = KEYS[keys + 4 * i + owner - 1]
        redis.call('ZADD', all, expires, member)
        local ended = redis.call('ZRANGEBYSCORE', all, '-inf', time, 'LIMIT', 0, ${sweepSize})
        if #ended > 0 then redis.call('ZREM', all, unpack(ended)) end
        if redis.call('PTTL', all) < expires - time then redis.call('PEXPIREAT', all, expires - shift) end
      end
    end
  end
end
`

/** KEYS: 4 for each credential. ARGV: shift of the clock, `always` or `present`, then 8 for each. */
const putAll = lua`${serverClockLua}${partsLua}${putLua}
local time = now(ARGV[1])
if ARGV[2] == 'present' then
  local old = redis.call('GET', KEYS[1])
  if not alive(old, time) or not string.find(old, '^%S+ %- ') then return 0 end
end
put(0, 2, #KEYS / 4, time, tonumber(ARGV[1]))
return 1`

/** Puts the end of a family, whose keys and arguments follow the given indexes, and reports it. */
const endLua = `
local function finish(keys, args, time, shift, channel, digest)
  put(keys, args, 1, time, shift)
  tell(channel, stamp(), 'credential', 'ended_family', digest)
end
`

/**
 * KEYS: version, changes, the exchanged credential, 4 of the end, succession, its refresh token and its
 * access token, 4 of each issued credential. ARGV: shift of the clock, channel, digest of the end, time,
 * grace, digest of the exchanged credential, the succession and its access token as known to the caller, 8 of
 * the end, 8 of each issued one. Decides as `isReplay` does; returns `again` and the current succession if
 * the caller's one is outdated and that matters. A used refresh token in the succession means that an earlier
 * version, which stores no succession, has continued the family: it is then ignored.
 */
const exchangeOne = lua`${serverClockLua}${partsLua}${putLua}${stampLua}${endLua}
local shift, channel, digest, at, grace, spent, succession, access = unpack(ARGV, 1, 8)
local time, old = now(shift), redis.call('GET', KEYS[3])
if not alive(old, time) then return {'ended', '-'} end
local expires, consumed, rest = string.match(old, '^(%S+) (%S+) (.*)$')
local isEnded = alive(redis.call('GET', KEYS[4]), time)
local last = redis.call('GET', KEYS[8])
if not alive(last, time) then last = '' end
local isLate = consumed ~= '-' and (tonumber(grace) == 0 or tonumber(at) - tonumber(consumed) > tonumber(grace))
local isOther = last ~= '' and string.match(last, consumed == '-' and '"refresh":"(%x+)"' or '"spent":"(%x+)"') ~= spent
if isOther and not isLate then
  if last ~= succession then return {'again', last} end
  local successor = redis.call('GET', KEYS[9])
  if alive(successor, time) and not string.find(successor, '^%S+ %- ') then last, isOther = '', false end
end
if isLate or isOther then
  if not isEnded then finish(3, 8, time, tonumber(shift), channel, digest) end
  return {'replayed', consumed}
end
if isEnded then return {'ended', '-'} end
if consumed == '-' then
  consumed = at
  keep(KEYS[3], tonumber(expires), expires .. ' ' .. at .. ' ' .. rest, tonumber(shift))
elseif last ~= '' then
  if last ~= succession then return {'again', last} end
  local lost = redis.call('GET', KEYS[9])
  if alive(lost, time) then
    local ends, _, parts = string.match(lost, '^(%S+) (%S+) (.*)$')
    keep(KEYS[9], tonumber(ends), ends .. ' ' .. at .. ' ' .. parts, tonumber(shift))
  end
  if redis.call('DEL', KEYS[10]) == 1 then tell(channel, stamp(), 'credential', 'access_token', access) end
end
put(10, 16, (#KEYS - 10) / 4, time, tonumber(shift))
return {'issued', consumed}`

/** KEYS: version, changes, 4 of the end. ARGV: shift of the clock, channel, digest, 8 of the end. */
const endOne = lua`${serverClockLua}${partsLua}${putLua}${stampLua}${endLua}
finish(2, 3, now(ARGV[1]), tonumber(ARGV[1]), ARGV[2], ARGV[3])
return 1`

/**
 * KEYS: credential. ARGV: shift of the clock, time of consumption. Returns whether this call consumed it, and
 * the credential.
 */
const consumeOne = lua`${serverClockLua}${partsLua}
local old = redis.call('GET', KEYS[1])
if not alive(old, now(ARGV[1])) then return false end
local expires, consumed, rest = string.match(old, '^(%S+) (%S+) (.*)$')
if consumed ~= '-' then return {0, old} end
local text = expires .. ' ' .. ARGV[2] .. ' ' .. rest
keep(KEYS[1], tonumber(expires), text, tonumber(ARGV[1]))
return {1, text}`

/** KEYS: version, changes, credential. ARGV: shift of the clock, channel, kind, digest. */
const removeOne = lua`${serverClockLua}${partsLua}${stampLua}
local shift, channel, kind, digest = unpack(ARGV)
local old = redis.call('GET', KEYS[3])
if not alive(old, now(shift)) then return 0 end
redis.call('DEL', KEYS[3])
tell(channel, stamp(), 'credential', kind, digest)
return 1`

/**
 * KEYS: version, changes, set of the owner, credentials. ARGV: shift of the clock, channel, kind of the
 * owner, its id, the required user, client and grant (- for any); then the member of each credential.
 */
const removeSome = lua`${serverClockLua}${partsLua}${stampLua}
local shift, channel, kind, id = unpack(ARGV, 1, 4)
local time, count = now(shift), 0
for i = 8, #ARGV do
  local key, isTheirs = KEYS[i - 4], true
  local text = redis.call('GET', key)
  if text then
    local owners = {string.match(text, '^%S+ %S+ (%S+) (%S+) (%S+) ')}
    for at = 1, 3 do isTheirs = isTheirs and (ARGV[at + 4] == '-' or ARGV[at + 4] == owners[at]) end
    if isTheirs and alive(text, time) then
      redis.call('DEL', key)
      count = count + 1
    end
  end
  if isTheirs then redis.call('ZREM', KEYS[3], ARGV[i]) end
end
if count > 0 then tell(channel, stamp(), 'credential', kind, id) end
return count`

export class RedisCredentials implements Credentials {
  readonly #connection: Reader
  readonly #writes: DurableWrites
  readonly #clock: Clock

  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    this.#connection = connection
    this.#writes = writes
    this.#clock = clock
  }

  async get(kind: CredentialKind, digest: string): Promise<Credential | null> {
    if (!isDigest(digest)) return null
    const credential = await this.#read(kind, digest)
    if (credential === null) await this.#writes.confirmAbsence()
    return credential
  }

  async put(credential: Credential, when: 'always' | 'present' = 'always'): Promise<boolean> {
    return (await this.#put([credential], when)) === 1
  }

  async putAll(credentials: readonly Credential[]): Promise<void> {
    if (credentials.length > 0) await this.#put(credentials, 'always')
  }

  async consume(kind: CredentialKind, digest: string, at: number): Promise<Consumption | null> {
    if (!isDigest(digest)) return null
    const args = [shiftOf(this.#clock), at]
    const reply = await this.#writes.run(consumeOne, [keyOf(kind, digest)], args)
    if (reply === null) return null
    const [isFirst, text] = reply as [number, string]
    return { credential: parse(text, kind, digest), isFirst: isFirst === 1 }
  }

  async exchange({ kind, digest, at, grace, issued, end }: Exchange): Promise<Exchanged> {
    if (!isDigest(digest)) return { outcome: 'ended', consumedAt: null }
    const [homes, parts] = homesAndParts([end, ...issued])
    const family = keyOf('token_family', end.digest)
    for (let succession = ''; ; ) {
      const last =
        succession === '' ? null : (parse(succession, 'token_family', end.digest).data as Succession | null)
      const lost = last
        ? [keyOf('refresh_token', last.refresh), keyOf('access_token', last.access)]
        : [family, family]
      const reply = await this.#writes.run(
        exchangeOne,
        [
          keys.version,
          keys.changes,
          keyOf(kind, digest),
          ...homes.slice(0, 4),
          family,
          ...lost,
          ...homes.slice(4),
        ],
        [
          shiftOf(this.#clock),
          changeChannel,
          end.digest,
          at,
          grace,
          digest,
          succession,
          last?.access ?? '-',
          ...parts,
        ],
      )
      const [outcome, detail] = reply as [Exchanged['outcome'] | 'again', string]
      if (outcome !== 'again') return { outcome, consumedAt: detail === '-' ? null : Number(detail) }
      succession = detail
    }
  }

  async endFamily(end: Credential): Promise<void> {
    const [homes, parts] = homesAndParts([end])
    const args = [shiftOf(this.#clock), changeChannel, end.digest, ...parts]
    await this.#writes.run(endOne, [keys.version, keys.changes, ...homes], args)
  }

  async hasEnded(digest: string): Promise<boolean> {
    return (await this.#read('ended_family', digest)) !== null
  }

  async remove(kind: CredentialKind, digest: string): Promise<boolean> {
    if (!isDigest(digest)) return false
    const homes = [keys.version, keys.changes, keyOf(kind, digest)]
    const args = [shiftOf(this.#clock), changeChannel, kind, digest]
    return (await this.#writes.run(removeOne, homes, args)) === 1
  }

  async removeOf(owner: CredentialOwner, kinds?: readonly CredentialKind[]): Promise<number> {
    let removed = 0
    // Credentials put for one that the last pass had not removed yet are found by the next pass.
    for (;;) {
      const count = await this.#removePass(owner, kinds)
      removed += count
      if (count === 0) break
    }
    // An earlier call may have removed them without being confirmed.
    if (removed === 0) await this.#writes.confirm()
    return removed
  }

  async #removePass(owner: CredentialOwner, kinds?: readonly CredentialKind[]): Promise<number> {
    const [kind, id] = narrowest(owner)
    const all = keys.credentialsOf(kind, id)
    const { user = '-', client = '-', grant = '-' } = owner
    const args = [shiftOf(this.#clock), changeChannel, kind, id, user, client, grant]
    let removed = 0
    // A scan returns every member that is present throughout, whatever else is removed.
    for (let cursor = '0'; ; await nextTurn()) {
      const scan = ['ZSCAN', all, cursor, 'COUNT', step] as const
      const [next, pairs] = (await this.#connection.run(scan)) as [string, string[]]
      const members = pairs
        .filter((_, i) => i % 2 === 0)
        .filter(member => !kinds || kinds.includes(kindOf(member)))
      for (let at = 0; at < members.length; at += step) {
        const some = members.slice(at, at + step)
        const homes = [keys.version, keys.changes, all, ...some.map(keyOfMember)]
        removed += (await this.#writes.run(removeSome, homes, [...args, ...some])) as number
      }
      if (next === '0') return removed
      cursor = next
    }
  }

  async list(owner: CredentialOwner, kind: CredentialKind, limit: number): Promise<readonly Credential[]> {
    const listed: Credential[] = []
    const all = keys.credentialsOf(...narrowest(owner))
    for (let first = 0; listed.length < limit; first += step) {
      const page = (await this.#connection.run(['ZREVRANGE', all, first, first + step - 1])) as string[]
      const digests = page.filter(member => kindOf(member) === kind).map(digestIn)
      const read = await Promise.all(digests.map(digest => this.#read(kind, digest)))
      const theirs = read
        .filter(credential => credential !== null)
        .filter(credential => isOf(owner, credential))
      listed.push(...theirs.slice(0, limit - listed.length))
      if (page.length < step) break
      await nextTurn()
    }
    return listed
  }

  async #put(credentials: readonly Credential[], when: 'always' | 'present'): Promise<unknown> {
    const [homes, parts] = homesAndParts(credentials)
    return this.#writes.run(putAll, homes, [shiftOf(this.#clock), when, ...parts])
  }

  async #read(kind: CredentialKind, digest: string): Promise<Credential | null> {
    const text = (await this.#connection.run(['GET', keyOf(kind, digest)])) as string | null
    if (text === null) return null
    const credential = parse(text, kind, digest)
    // The server drops it by its own clock.
    return credential.expiresAt > this.#clock.now() ? credential : null
  }
}

function homesAndParts(credentials: readonly Credential[]): [homes: string[], parts: Argument[]] {
  const homes: string[] = []
  const parts: Argument[] = []
  for (const credential of credentials) {
    const { kind, digest, user, client, grant, createdAt, expiresAt, consumedAt } = credential
    const own = keyOf(kind, digest)
    homes.push(own)
    // Its own key again if there is no owner: the script ignores that.
    for (const [owner, id] of Object.entries({ user, client, grant }))
      homes.push(id === null ? own : keys.credentialsOf(owner, id))
    parts.push(expiresAt, consumedAt ?? '-', user ?? '-', client ?? '-', grant ?? '-', createdAt)
    parts.push(jsonOf(credential), memberOf(kind, digest))
  }
  return [homes, parts]
}

function parse(text: string, kind: CredentialKind, digest: string): Credential {
  const parts = text.split(' ', 6)
  const [expiresAt, consumedAt, user, client, grant, createdAt] = parts.map(part =>
    part === '-' ? null : part,
  )
  return {
    kind,
    digest,
    user: user!,
    client: client!,
    grant: grant!,
    data: JSON.parse(text.slice(parts.join(' ').length + 1)),
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    consumedAt: consumedAt === null ? null : Number(consumedAt),
  }
}

function isOf({ user, client, grant }: CredentialOwner, credential: Credential): boolean {
  const { user: theirs, client: its, grant: given } = credential
  return (user ?? theirs) === theirs && (client ?? its) === its && (grant ?? given) === given
}

function keyOf(kind: CredentialKind, digest: string): string {
  return keys.credential(kind, shortened(digest))
}

function memberOf(kind: CredentialKind, digest: string): string {
  return letters[kind] + shortened(digest)
}

function keyOfMember(member: string): string {
  return keys.credential(kindOf(member), member.slice(1))
}

function kindOf(member: string): CredentialKind {
  return kinds.get(member[0]!)!
}

function digestIn(member: string): string {
  return Buffer.from(member.slice(1), 'base64url').toString('hex')
}

function shortened(digest: string): string {
  return Buffer.from(digest, 'hex').toString('base64url')
}

const kinds: ReadonlyMap<string, CredentialKind> = new Map(
  Object.entries(letters).map(([kind, letter]) => [letter, kind as CredentialKind]),
)
