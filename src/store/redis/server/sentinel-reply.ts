// Parses what one Sentinel reports about a primary and its replicas.

import type { Host } from './address.ts'

export interface SentinelReply {
  readonly id: string
  readonly primary: Host
  readonly epoch: number
  readonly replicas: readonly Replica[]
  readonly others: readonly Other[]
}

/** Another Sentinel that it knows. */
interface Other {
  readonly id: string
  readonly host: Host
  /** Ms since it last replied to this one. */
  readonly silence: number
}

interface Replica {
  /** `host:port` */
  readonly name: string
  /** The run id, or the name of a replica that was never reached. */
  readonly id: string
  readonly isElectable: boolean
}

interface Electorate {
  readonly electable: readonly (readonly string[])[]
  readonly spared: number
}

type Fields = Readonly<Record<string, string>>

/**
 * How long a Sentinel that is cut off may still become the one that chooses, in ms (sentinel.c): for five
 * seconds it believes that others called the primary down, and for ten it asks for their votes, which it gets
 * if it is back by then. It may have been heard for the last time a second before it was cut off.
 */
const electionLife = 17_000

/** Parses the replies to SENTINEL MYID, MASTER, REPLICAS and SENTINELS; null if one of them failed. */
export function replyOf(replies: readonly unknown[]): SentinelReply | null {
  if (replies.length < 4 || replies.some(reply => reply instanceof Error)) return null
  const [id, master, replicas, others] = replies as [string, unknown, unknown[], unknown[]]
  const primary = fieldsOf(master)
  const maxDowntime = 10 * Number(primary['down-after-milliseconds'])
  return {
    id: String(id),
    primary: hostOf(primary),
    epoch: Number(primary['config-epoch']),
    replicas: replicas.map(reply => replicaOf(fieldsOf(reply), maxDowntime)),
    others: others.map(fieldsOf).map(other => ({
      ...{ id: other.runid ?? '', host: hostOf(other) },
      silence: Number(other['last-ok-ping-reply']),
    })),
  }
}

/**
 * Returns those that were asked in the last second, counted from the last one: one that was cut off since may
 * have changed its mind, and what the others say now is no agreement with what it said then.
 */
export function together<T extends { readonly askedAt: number }>(sentinels: readonly T[]): readonly T[] {
  const last = Math.max(...sentinels.map(({ askedAt }) => askedAt))
  return sentinels.filter(({ askedAt }) => askedAt > last - 1_000)
}

/**
 * Returns the replicas that could become the primary, each with its names. Any Sentinel may choose, so all
 * must agree that a replica cannot be chosen: at least `majority`, and each other one must have been cut off
 * from them for so long that it cannot be elected with what it knows.
 */
export function replicasIn(replies: readonly SentinelReply[], majority: number): Electorate {
  const groups = same(replies.flatMap(reply => reply.replicas))
  const isOpen = replies.length < majority || !areAll(replies)
  const isNeeded = (group: readonly Replica[]) => isOpen || group.some(one => one.isElectable)
  const electable = groups.filter(isNeeded).map(group => [...new Set(group.map(({ name }) => name))])
  return { electable, spared: groups.length - electable.length }
}

/** Whether no Sentinel but these can choose. */
function areAll(replies: readonly SentinelReply[]): boolean {
  const ids = new Set(replies.map(({ id }) => id))
  return replies
    .flatMap(({ others }) => others)
    .every(({ id, silence }) => ids.has(id) || silence > electionLife)
}

/** Groups what different Sentinels report about the same replica, perhaps under different names. */
function same(replicas: readonly Replica[]): readonly (readonly Replica[])[] {
  const groups: Replica[][] = []
  // The best-known ones come first, so that each of the others finds its group.
  for (const one of replicas.toSorted((a, b) => b.id.length - a.id.length)) {
    const group = groups.find(others => others.some(({ id, name }) => id === one.id || name === one.name))
    if (group) group.push(one)
    else groups.push([one])
  }
  return groups
}

/**
 * Follows sentinel.c (sentinelSelectSlave): excludes replicas that are down, have priority 0, or lost their
 * primary long before it was down.
 */
function replicaOf(fields: Fields, maxDowntime: number): Replica {
  const flags = (fields.flags ?? '').split(',')
  const isDown = flags.includes('s_down') || flags.includes('o_down')
  const isLeft = Number(fields['master-link-down-time']) > maxDowntime
  const name = fields.name ?? ''
  return {
    name,
    id: fields.runid || name,
    isElectable: !isDown && !isLeft && fields['slave-priority'] !== '0',
  }
}

function hostOf({ ip, port }: Fields): Host {
  return { host: ip ?? '', port: Number(port) }
}

function fieldsOf(reply: unknown): Fields {
  if (!Array.isArray(reply)) return reply as Fields
  return Object.fromEntries(reply.flatMap((name, i) => (i % 2 === 0 ? [[name, String(reply[i + 1])]] : [])))
}
