// Claims in Redis: a key each, with the hash tag of the records, so that a proof covers them. What a crash
// must not undo waits for the disk; the end of a claim need not, as its call then counts as lost.

import type { Clock } from '../../../base/clock.ts'
import type { Claims } from '../../contract/answers.ts'
import type {
  AnswerPlace,
  Claim,
  ClaimAsk,
  ClaimEntry,
  ClaimReply,
  ClaimState,
} from '../../answers/answer.ts'
import { serverClockLua, shiftOf } from '../server/clock.ts'
import type { Reader } from '../server/connection.ts'
import type { DurableWrites } from '../server/durability.ts'
import { keys } from '../server/keys.ts'
import { lua } from '../server/script.ts'

/** Expired members that each new claim removes from the set of its account. */
const broom = 20
const pageSize = 100

/** A claim is stored as `expires leasedUntil isDone fingerprint holder owner note`. */
const claimLua = `${serverClockLua}
local shift = ARGV[1]
local time = now(shift)

local function load(key)
  local text = redis.call('GET', key)
  if not text then return nil end
  local expires, leased, done, fingerprint, holder, owner, note =
    string.match(text, '^(%S+) (%S+) (%d) (%S+) (%S+) (%S+) (.*)$')
  if tonumber(expires) <= time then return nil end
  return {expires = expires, leased = leased, done = done, fingerprint = fingerprint, holder = holder, owner = owner, note = note}
end

local function save(key, claim)
  local parts = {claim.expires, claim.leased, claim.done, claim.fingerprint, claim.holder, claim.owner, claim.note}
  redis.call('SET', key, table.concat(parts, ' '))
  redis.call('PEXPIREAT', key, string.format('%.0f', tonumber(claim.expires) - shift))
end

local function reply(claim)
  local state = 'lost'
  if claim.done == '1' then state = 'done' elseif tonumber(claim.leased) > time then state = 'running' end
  return {state, claim.fingerprint, claim.holder, claim.note}
end

local function isOf(claim, holder)
  return claim and claim.holder == holder and claim.done == '0'
end

-- Claims of the account, and of an owner in it.
local function setsOf(claims, owner) return {claims, claims .. '/' .. owner} end

local function count(claims, claim, member)
  for _, set in ipairs(setsOf(claims, claim.owner)) do
    redis.call('ZADD', set, claim.expires, member)
    if redis.call('PTTL', set) < claim.expires - time then
      redis.call('PEXPIREAT', set, string.format('%.0f', claim.expires - shift))
    end
  end
end
`

/**
 * KEYS: claim, claims of the account. ARGV: shift of the clock, member, owner, fingerprint, holder, lease,
 * expiry, note, the most claims of the account and of the owner. Returns `new`, `full` with whose limit is
 * reached and when its first claim expires, or the claim of another.
 */
const claimOne = lua`${claimLua}
local _, member, owner, fingerprint, holder, lease, expires, note, most, mostOfOwner = unpack(ARGV)
local claim = load(KEYS[1])
if claim then
  if isOf(claim, holder) and claim.fingerprint == fingerprint then return {'new'} end
  return reply(claim)
end
local sets = setsOf(KEYS[2], owner)
local bounds = {{'owner', sets[2], mostOfOwner}, {'account', sets[1], most}}
for _, set in ipairs(sets) do
  local ended = redis.call('ZRANGEBYSCORE', set, '-inf', time, 'LIMIT', 0, ${String(broom)})
  if #ended > 0 then redis.call('ZREM', set, unpack(ended)) end
end
for _, bound in ipairs(bounds) do
  local whose, set, maximum = unpack(bound)
  if redis.call('ZCARD', set) >= tonumber(maximum) and not redis.call('ZRANK', set, member) then
    return {'full', whose, redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]}
  end
end
local leased = string.format('%.0f', time + lease)
local new = {expires = expires, leased = leased, done = '0', fingerprint = fingerprint, holder = holder, owner = owner, note = note}
save(KEYS[1], new)
count(KEYS[2], new, member)
return {'new'}`

/** KEYS: claim. ARGV: shift of the clock. */
const lookAt = lua`${claimLua}
local claim = load(KEYS[1])
return claim and reply(claim) or false`

/** KEYS: claim. ARGV: shift of the clock, holder, lease. */
const renewOne = lua`${claimLua}
local claim = load(KEYS[1])
if not isOf(claim, ARGV[2]) then return 0 end
claim.leased = string.format('%.0f', time + ARGV[3])
save(KEYS[1], claim)
return 1`

/** KEYS: claim. ARGV: shift of the clock, holder, note. */
const settleOne = lua`${claimLua}
local claim = load(KEYS[1])
if not isOf(claim, ARGV[2]) then return 0 end
claim.done, claim.note = '1', ARGV[3]
save(KEYS[1], claim)
return 1`

/** KEYS: claim, claims of the account. ARGV: shift of the clock, holder, member. */
const releaseOne = lua`${claimLua}
local claim = load(KEYS[1])
if not isOf(claim, ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
for _, set in ipairs(setsOf(KEYS[2], claim.owner)) do redis.call('ZREM', set, ARGV[3]) end
return 1`

/** KEYS: claims of the account. Returns their members. */
const listAll = lua`return redis.call('ZRANGE', KEYS[1], 0, -1)`

/** KEYS: claims. ARGV: shift of the clock. Returns the seven parts of each, or nothing in its place. */
const readSome = lua`${claimLua}
local claims = {}
for i, key in ipairs(KEYS) do
  local claim = load(key)
  claims[i] = claim and {claim.expires, claim.leased, claim.done, claim.fingerprint, claim.holder, claim.owner, claim.note} or false
end
return claims`

/**
 * KEYS: claims of the account, then each claim. ARGV: shift of the clock, then of each claim its member and
 * its seven parts.
 */
const restoreSome = lua`${claimLua}
for i = 2, #KEYS do
  local member, expires, leased, done, fingerprint, holder, owner, note = unpack(ARGV, 8 * i - 14, 8 * i - 7)
  local claim = {expires = expires, leased = leased, done = done, fingerprint = fingerprint, holder = holder, owner = owner, note = note}
  save(KEYS[i], claim)
  count(KEYS[1], claim, member)
end
return 1`

interface Links {
  readonly reader: Reader
  readonly writes: Pick<DurableWrites, 'run'>
  /** Do not wait for the disk. */
  readonly quick: Pick<DurableWrites, 'run'>
}

type Parts = readonly [
  expires: string,
  leased: string,
  done: string,
  fingerprint: string,
  holder: string,
  owner: string,
  note: string,
]
type Reply = readonly [state: ClaimState, fingerprint: string, holder: string, note: string]

export class RedisClaims implements Claims {
  readonly #links: Links
  readonly #clock: Clock

  constructor(links: Links, clock: Clock) {
    this.#links = links
    this.#clock = clock
  }

  async claim(ask: ClaimAsk): Promise<ClaimReply> {
    const { account, owner, fingerprint, holder, lease, expiresAt, note, maxClaims, maxOfOwner } = ask
    const reply = await this.#links.writes.run(
      claimOne,
      [keyOf(ask), keys.claims(account)],
      [
        ...[shiftOf(this.#clock), memberOf(ask), owner, fingerprint, holder, lease, expiresAt, note],
        ...[maxClaims, maxOfOwner],
      ],
    )
    const [outcome, of, until] = reply as readonly ['new' | 'full' | ClaimState, 'account' | 'owner', string]
    if (outcome === 'new') return { outcome }
    if (outcome === 'full') return { outcome, of, until: Number(until) }
    return { outcome: 'taken', claim: claimOf(reply as Reply) }
  }

  async look(place: AnswerPlace): Promise<Claim | null> {
    const reply = await this.#links.reader.script(lookAt, [keyOf(place)], [shiftOf(this.#clock)])
    return reply === null ? null : claimOf(reply as Reply)
  }

  renew(place: AnswerPlace, holder: string, lease: number): Promise<boolean> {
    return this.#change(this.#links.quick, renewOne, place, [holder, lease])
  }

  settle(place: AnswerPlace, holder: string, note: string): Promise<boolean> {
    return this.#change(this.#links.quick, settleOne, place, [holder, note])
  }

  release(place: AnswerPlace, holder: string): Promise<boolean> {
    return this.#change(this.#links.writes, releaseOne, place, [holder, memberOf(place)])
  }

  async *entries(account: string): AsyncGenerator<readonly ClaimEntry[]> {
    const { reader } = this.#links
    const members = (await reader.script(listAll, [keys.claims(account)], [])) as string[]
    for (let from = 0; from < members.length; from += pageSize) {
      const places = members.slice(from, from + pageSize).map(member => placeOf(account, member))
      const reply = await reader.script(readSome, places.map(keyOf), [shiftOf(this.#clock)])
      const claims = reply as readonly (Parts | null)[]
      yield places.flatMap((place, i) => (claims[i] == null ? [] : [entryOf(place, claims[i])]))
    }
  }

  async restore(account: string, entries: readonly ClaimEntry[]): Promise<void> {
    if (entries.length === 0) return
    const args = entries.flatMap(entry => [memberOf(entry), ...partsOf(entry)])
    const homes = [keys.claims(account), ...entries.map(keyOf)]
    await this.#links.writes.run(restoreSome, homes, [shiftOf(this.#clock), ...args])
  }

  async #change(
    writes: Links['writes'],
    script: typeof renewOne,
    place: AnswerPlace,
    args: readonly (string | number)[],
  ): Promise<boolean> {
    const homes = [keyOf(place), keys.claims(place.account)]
    return (await writes.run(script, homes, [shiftOf(this.#clock), ...args])) === 1
  }
}

function claimOf([state, fingerprint, holder, note]: Reply): Claim {
  return { state, fingerprint, holder, note }
}

function keyOf({ account, gateway, key }: AnswerPlace): string {
  return keys.claim(account, gateway, key)
}

function memberOf({ gateway, key }: AnswerPlace): string {
  return `${gateway}/${key}`
}

function placeOf(account: string, member: string): AnswerPlace {
  const slash = member.lastIndexOf('/')
  return { account, gateway: member.slice(0, slash), key: member.slice(slash + 1) }
}

function entryOf(
  place: AnswerPlace,
  [expires, leased, done, fingerprint, holder, owner, note]: Parts,
): ClaimEntry {
  const about = { owner, fingerprint, holder, note, isDone: done === '1' }
  return { ...place, ...about, leasedUntil: Number(leased), expiresAt: Number(expires) }
}

function partsOf({ expiresAt, leasedUntil, isDone, fingerprint, holder, owner, note }: ClaimEntry): Parts {
  return [String(expiresAt), String(leasedUntil), isDone ? '1' : '0', fingerprint, holder, owner || '-', note]
}
