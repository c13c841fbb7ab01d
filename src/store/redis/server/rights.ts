// What the user of a Redis server must be allowed, and the question which of that is denied.

import { inTime } from '../../../base/turns/in-time.ts'
import { StoreUnreachable } from '../../store.ts'
import { type Argument, type Client, connect, type Dialling } from './connect.ts'
import { isDenied, reasonOf, tooLate } from './failure.ts'
import { changeChannel } from '../keys.ts'

/** All keys begin so, in a cluster too. */
const keyPrefix = '{gatehouse'
/** Nothing is kept there. */
const noKey = `${keyPrefix}}:rights`

/** Commands on keys, which scripts run or which are asked by themselves. */
const onKeys = [
  ...[
    'del',
    'exists',
    'get',
    'hdel',
    'hexists',
    'hget',
    'hincrby',
    'hkeys',
    'hlen',
    'hmget',
    'hset',
    'hsetnx',
    'hvals',
  ],
  ...[
    'incrby',
    'lpush',
    'lrange',
    'ltrim',
    'pexpire',
    'pexpireat',
    'pttl',
    'set',
    'unlink',
    'xadd',
    'xrange',
    'xrevrange',
    'zadd',
    'zcard',
  ],
  ...[
    'zcount',
    'zlexcount',
    'zpopmin',
    'zrange',
    'zrangebylex',
    'zrangebyscore',
    'zrank',
    'zrem',
    'zrevrange',
    'zscan',
  ],
]

interface Need {
  /** As a user is granted it. */
  readonly rule: string
  /** A command that asks for it. */
  readonly command: readonly Argument[]
}

/** What is needed for one purpose, and what comes of it when that is denied. */
interface Purpose {
  readonly needs: readonly Need[]
  /** Where the commands must be allowed, in words and as a user is granted it. */
  readonly place: readonly [words: string, rule: string] | null
  readonly loss: string
}

const purposes: readonly Purpose[] = [
  {
    needs: [
      ...onKeys.map(rule => ({ rule, command: [rule, noKey, noKey, noKey] })),
      { rule: 'eval', command: ['eval', '', 1, noKey] },
      { rule: 'evalsha', command: ['evalsha', '', 1, noKey] },
      { rule: 'time', command: ['time'] },
    ],
    place: [`the keys ${keyPrefix}*`, `~${keyPrefix}*`],
    loss: 'records, logs and counters that need them are refused',
  },
  {
    needs: [
      { rule: 'publish', command: ['publish', changeChannel, ''] },
      { rule: 'subscribe', command: ['subscribe', changeChannel] },
    ],
    place: [`the channel ${changeChannel}`, `&${changeChannel}`],
    loss: 'changes take up to a second to reach other processes',
  },
  {
    needs: [
      { rule: 'info', command: ['info'] },
      { rule: 'config|get', command: ['config', 'get', 'appendfsync'] },
    ],
    place: null,
    loss: 'the durability of writes is unknown',
  },
  {
    needs: [{ rule: 'wait', command: ['wait', 0, 0] }],
    place: null,
    loss: 'writes that replicas must confirm are refused',
  },
  {
    needs: [{ rule: 'waitaof', command: ['waitaof', 0, 0, 0] }],
    place: null,
    loss: 'writes are refused unless appendfsync is always, or there is no append-only file',
  },
]

/** What +@connection has. */
const ofConnections: ReadonlySet<string> = new Set(['+wait', '+waitaof'])

const inCluster: Purpose = {
  needs: ['slots', 'nodes', 'info'].map(name => ({ rule: `cluster|${name}`, command: ['cluster', name] })),
  place: null,
  loss: 'cluster nodes cannot be found',
}

/** What a user needs beyond that in a cluster. */
export const clusterRules: readonly string[] = inCluster.needs.map(({ rule }) => `+${rule}`)

/** What a user is granted to use the store, in the words of ACL SETUSER, after `reset on` and a password. */
export const aclRules: readonly string[] = [
  ...purposes.flatMap(({ place }) => (place ? [place[1]] : [])),
  // Has WAIT, WAITAOF where there is one, SELECT and what the driver greets with, but no command against other connections.
  ...['+@connection', '-@dangerous'],
  ...purposes
    .flatMap(({ needs }) => needs.map(({ rule }) => `+${rule}`))
    .filter(rule => !ofConnections.has(rule)),
]

/** ARGV: for each command its length and its words. Returns the numbers of those that are denied; none where the server is older than Redis 7 and can't say. */
const question = `
local denied, at, number = {}, 1, 0
while ARGV[at] do
  local length = tonumber(ARGV[at])
  local isKnown, isAllowed = pcall(redis.acl_check_cmd, unpack(ARGV, at + 1, at + length))
  if isKnown and not isAllowed then denied[#denied + 1] = number end
  at, number = at + length + 1, number + 1
end
return denied`

/** Returns a sentence for each purpose that the user may not serve: which commands are denied, what that means, and how they are granted. Rejects with `StoreUnreachable` where that can't be asked. */
export async function deniedRights(dialling: Dialling, timeout: number): Promise<readonly string[]> {
  const { address } = dialling
  if (address.kind !== 'cluster') return ask(dialling, timeout, purposes)
  // A node by itself, since without its rights nobody finds the others.
  const attempts = address.hosts.map(host => {
    const node = { ...address, kind: 'server', hosts: [host] } as const
    return ask({ ...dialling, address: node }, timeout, [...purposes, inCluster])
  })
  return Promise.any(attempts).catch(({ errors }: AggregateError) => Promise.reject(errors[0]))
}

/** Asks on a connection of its own: those of the store need rights to be there at all. */
async function ask(
  dialling: Dialling,
  timeout: number,
  wanted: readonly Purpose[],
): Promise<readonly string[]> {
  const client = connect(dialling, timeout)
  const ready = Promise.withResolvers<void>()
  client.onReady(ready.resolve)
  client.onLoss(reason => ready.reject(reason))
  try {
    const all = wanted.flatMap(({ needs }) => needs)
    const denied = await inTime(
      ready.promise.then(() => deniedOf(client, all)),
      timeout,
      tooLate,
    )
    const { username } = dialling.address
    return wanted.flatMap(purpose => {
      const missing = purpose.needs.filter(need => denied.has(need))
      return missing.length === 0 ? [] : sentenceOf(username ?? 'default', purpose, missing)
    })
  } catch (error) {
    throw new StoreUnreachable(reasonOf(error))
  } finally {
    client.cut()
  }
}

async function deniedOf({ send }: Client, all: readonly Need[]): Promise<ReadonlySet<Need>> {
  const words = all.flatMap(({ command }) => [command.length, ...command])
  const found = await send(['EVAL', question, 0, ...words]).catch(error => withoutEval(error, all))
  return new Set((found as number[]).map(number => all[number]!))
}

/** A user who may not even ask lacks that command, and perhaps others. */
function withoutEval(error: unknown, all: readonly Need[]): readonly number[] {
  if (!isDenied(error)) throw error
  return [all.findIndex(({ rule }) => rule === 'eval')]
}

function sentenceOf(user: string, { needs, place, loss }: Purpose, denied: readonly Need[]): string {
  // Without its keys a user may still ask for the time.
  const isAll = denied.length > 2 && denied.length >= needs.length - 1
  const commands = isAll
    ? 'every command'
    : inWords(denied.map(({ rule }) => rule.toUpperCase().replace('|', ' ')))
  const rules = isAll ? ['the commands listed in docs/operations.md'] : denied.map(({ rule }) => `+${rule}`)
  const where = place ? ` on ${place[0]}` : ''
  const grants = place ? [place[1], ...rules] : rules
  return `Redis denies user ${user} ${commands}${where}: ${loss}. Grant ${inWords(grants)} with ACL SETUSER.`
}

function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
