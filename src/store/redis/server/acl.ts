// The rights that the user of a Redis server needs, and the check for rights that are denied and commands
// that are missing.

import { inTime } from '../../../base/turns/in-time.ts'
import { StoreUnreachable } from '../../contract/store.ts'
import { type Argument, type Client, type Command, connect, type Dialling } from './connect.ts'
import { isDenied, isReply, isUnknownCommand, reasonOf, tooLate } from './failure.ts'
import { argumentCounts } from './key-commands.ts'
import { changeChannel } from './keys.ts'

/** The prefix of all keys, in a cluster too. */
const keyPrefix = '{gatehouse'
const noKey = `${keyPrefix}}:rights`

interface Need {
  /** The rule that grants it to a user. */
  readonly rule: string
  readonly command: readonly Argument[]
}

interface Purpose {
  readonly needs: readonly Need[]
  /** Where the commands must be allowed, in words and as a rule. */
  readonly place: readonly [words: string, rule: string] | null
  readonly loss: string
}

/** Without these, a server is unsuitable as a store. */
const onRecords: Purpose = {
  needs: [
    ...[...argumentCounts]
      .filter(([, count]) => count > 0)
      .map(([rule, count]) => ({ rule, command: [rule, ...Array<string>(count).fill(noKey)] })),
    { rule: 'eval', command: ['eval', '', 1, noKey] },
    { rule: 'evalsha', command: ['evalsha', '', 1, noKey] },
    { rule: 'time', command: ['time'] },
  ],
  place: [`the keys ${keyPrefix}*`, `~${keyPrefix}*`],
  loss: 'records, logs and counters that need them are refused',
}

const purposes: readonly Purpose[] = [
  onRecords,
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

/** Included in +@connection. */
const ofConnections: ReadonlySet<string> = new Set(['+wait', '+waitaof'])

const inCluster: Purpose = {
  needs: ['slots', 'nodes', 'info'].map(name => ({ rule: `cluster|${name}`, command: ['cluster', name] })),
  place: null,
  loss: 'cluster nodes cannot be found',
}

/** Further rights that a user needs in a cluster. */
export const clusterRules: readonly string[] = inCluster.needs.map(({ rule }) => `+${rule}`)

/** The rights in the syntax of ACL SETUSER, after `reset on` and a password. */
export const aclRules: readonly string[] = [
  ...purposes.flatMap(({ place }) => (place ? [place[1]] : [])),
  // Includes WAIT, WAITAOF if the server has it, SELECT and the driver's handshake, but no command against
  // other connections.
  ...['+@connection', '-@dangerous'],
  ...purposes
    .flatMap(({ needs }) => needs.map(({ rule }) => `+${rule}`))
    .filter(rule => !ofConnections.has(rule)),
]

/**
 * ARGV: for each command its length and its words. Returns the numbers of denied and of missing ones; nothing
 * before Redis 7.
 */
const question = `
local may = redis.acl_check_cmd
if not may then return false end
local denied, unknown, at, number = {}, {}, 1, 0
while ARGV[at] do
  local length = tonumber(ARGV[at])
  local isKnown, isAllowed = pcall(may, unpack(ARGV, at + 1, at + length))
  if not isKnown then unknown[#unknown + 1] = number
  elseif not isAllowed then denied[#denied + 1] = number end
  at, number = at + length + 1, number + 1
end
return {denied, unknown}`

export const recordsQuestion: Command = questionOf(onRecords.needs)

/**
 * Returns a clause about the rights that the user lacks; null if none. `first` is the server's reply to the
 * first read.
 */
export function deniedRecords(
  user: string,
  reply: unknown,
  first: unknown,
): readonly [clause: string, grants: string] | null {
  const denied = deniedIn(reply, onRecords.needs)
  if (denied.length === 0 && isDenied(first)) denied.push(needOf('exists'))
  return denied.length === 0 ? null : denialOf(user, onRecords, denied)
}

/** Returns the commands that the server lacks, by documented name: renamed, or it is not Redis. */
export async function missingCommands(
  { send }: Pick<Client, 'send'>,
  reply: unknown,
): Promise<readonly string[]> {
  const { needs } = onRecords
  const unknown = Array.isArray(reply)
    ? (reply[1] as number[]).map(number => needs[number]!)
    : await notListed(send)
  if (isUnknownCommand(reply) && !unknown.includes(needOf('eval'))) unknown.push(needOf('eval'))
  return unknown.map(nameOf)
}

async function notListed(send: Client['send']): Promise<Need[]> {
  const { needs } = onRecords
  const listed = await send(['COMMAND', 'INFO', ...needs.map(({ rule }) => rule)]).catch(ifReply)
  return Array.isArray(listed) ? needs.filter((_, number) => listed[number] === null) : []
}

/** If the list of commands is denied, the answer is unknown. */
function ifReply(error: unknown): null {
  if (!isReply(error)) throw error
  return null
}

function needOf(rule: string): Need {
  return onRecords.needs.find(need => need.rule === rule)!
}

function questionOf(needs: readonly Need[]): Command {
  return ['EVAL', question, 0, ...needs.flatMap(({ command }) => [command.length, ...command])]
}

/** A user who may not even ask lacks that command, and perhaps others. */
function deniedIn(reply: unknown, needs: readonly Need[]): Need[] {
  if (isDenied(reply)) return needs.filter(({ rule }) => rule === 'eval')
  return Array.isArray(reply) ? (reply[0] as number[]).map(number => needs[number]!) : []
}

/**
 * Returns a sentence for each purpose that the user's rights do not cover. Rejects with `StoreUnreachable` if
 * that cannot be checked.
 */
export async function deniedRights(dialling: Dialling, timeout: number): Promise<readonly string[]> {
  const { address } = dialling
  if (address.kind !== 'cluster') return ask(dialling, timeout, purposes)
  // Each node of its own, since without these rights the others cannot be discovered.
  const attempts = address.hosts.map(host => {
    const node = { ...address, kind: 'server', hosts: [host] } as const
    return ask({ ...dialling, address: node }, timeout, [...purposes, inCluster])
  })
  return Promise.any(attempts).catch(({ errors }: AggregateError) => Promise.reject(errors[0]))
}

/** Asks on a separate connection, as those of the store already need rights to connect. */
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
    const reply = await inTime(
      ready.promise.then(() => client.send(questionOf(all)).catch(ifDenied)),
      timeout,
      tooLate,
    )
    const denied = new Set(deniedIn(reply, all))
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

function ifDenied(error: unknown): unknown {
  if (!isDenied(error)) throw error
  return error
}

function sentenceOf(user: string, purpose: Purpose, denied: readonly Need[]): string {
  const [clause, grants] = denialOf(user, purpose, denied)
  return `Redis ${clause}: ${purpose.loss}. Grant ${grants} with ACL SETUSER.`
}

function denialOf(
  user: string,
  { needs, place }: Purpose,
  denied: readonly Need[],
): readonly [clause: string, grants: string] {
  // Without rights to its keys, a user may still ask for the time.
  const isAll = denied.length > 2 && denied.length >= needs.length - 1
  const commands = isAll ? 'every command' : inWords(denied.map(nameOf))
  const rules = isAll ? ['the commands listed in docs/operations.md'] : denied.map(({ rule }) => `+${rule}`)
  const where = place ? ` on ${place[0]}` : ''
  return [`denies user ${user} ${commands}${where}`, inWords(place ? [place[1], ...rules] : rules)]
}

function nameOf({ rule }: Need): string {
  return rule.toUpperCase().replace('|', ' ')
}

export function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
