// Facts about one server: primary or replica, its run, its history of writes, and its replicas.

import type { Command } from './connect.ts'

export interface ServerFacts {
  readonly role: 'primary' | 'replica'
  /** Differs after each restart; null if the server does not tell. */
  readonly runId: string | null
  /**
   * The id of the current history of writes, different for each primary; null if the server does not tell.
   */
  readonly history: string | null
  readonly offset: number
  readonly former: Reach | null
  /** The replicas that are online; null if the server does not tell. */
  readonly replicas: readonly Follower[] | null
}

/** An offset in a history. */
export interface Reach {
  readonly history: string
  readonly offset: number
}

export interface Follower {
  /** `host:port` */
  readonly name: string
  /** The last offset that it reported. */
  readonly offset: number
}

const unknown = { runId: null, history: null, offset: 0, former: null, replicas: null } as const

/** Commands that return the facts, and HELLO, which cannot be denied. */
export type FactCommands = readonly [source: Command, hello: Command]

/** Only the full INFO contains the run. */
export const allFacts: FactCommands = [['INFO'], ['HELLO']]
export const fewFacts: FactCommands = [['INFO', 'replication'], ['HELLO']]
/** Used if INFO is denied: replicas, but no histories. */
export const roleFacts: FactCommands = [['ROLE'], ['HELLO']]

export function factsOf([source, hello]: readonly unknown[]): ServerFacts | null {
  return factsOfSource(source) ?? factsOfHello(hello)
}

/** Parses the reply to INFO, its section `replication`, or ROLE; null if that was denied. */
export function factsOfSource(reply: unknown): ServerFacts | null {
  if (Array.isArray(reply)) return factsOfRole(reply)
  return typeof reply === 'string' ? factsOfInfo(reply) : null
}

function factsOfInfo(info: string): ServerFacts | null {
  const lines = linesOf(info)
  if (!lines.has('role')) return null
  return {
    role: lines.get('role') === 'master' ? 'primary' : 'replica',
    runId: lines.get('run_id') ?? null,
    history: lines.get('master_replid') ?? null,
    offset: Number(lines.get('master_repl_offset') ?? 0),
    former: formerIn(lines),
    replicas: [...lines].filter(([name]) => /^slave\d+$/.test(name)).flatMap(([, text]) => followerOf(text)),
  }
}

/** Redis counts to the first byte that is missing, and from -1 without such a history. */
function formerIn(lines: ReadonlyMap<string, string>): Reach | null {
  const end = Number(lines.get('second_repl_offset') ?? -1)
  return end < 0 ? null : { history: lines.get('master_replid2') ?? '', offset: end - 1 }
}

export function linesOf(info: string): ReadonlyMap<string, string> {
  const pairs = info
    .split(/\r?\n/)
    .map(line => [line.split(':', 1)[0]!, line.slice(line.indexOf(':') + 1)] as const)
  return new Map(pairs)
}

/** Parses `master`, its offset, and host, port and offset of each replica that is online. */
function factsOfRole([role, offset, replicas]: readonly unknown[]): ServerFacts | null {
  if (role === 'slave') return { ...unknown, role: 'replica' }
  if (role !== 'master' || !Array.isArray(replicas)) return null
  const followers = replicas.map(([host, port, reached]) => ({
    name: `${host}:${port}`,
    offset: Number(reached),
  }))
  return { ...unknown, role: 'primary', offset: Number(offset), replicas: followers }
}

function factsOfHello(hello: unknown): ServerFacts | null {
  if (!Array.isArray(hello)) return null
  const role = hello[hello.indexOf('role') + 1]
  if (role !== 'master' && role !== 'replica') return null
  return { ...unknown, role: role === 'master' ? 'primary' : 'replica' }
}

/** Whether the server is a node of a cluster, according to INFO or HELLO. */
export function isNodeOfCluster(info: unknown, hello: unknown): boolean {
  if (typeof info === 'string') return linesOf(info).get('cluster_enabled') === '1'
  return Array.isArray(hello) && hello[hello.indexOf('mode') + 1] === 'cluster'
}

function followerOf(text: string): readonly Follower[] {
  const fields = new Map(text.split(',').map(part => part.split('=', 2) as [string, string]))
  if (fields.get('state') !== 'online') return []
  return [{ name: `${fields.get('ip')}:${fields.get('port')}`, offset: Number(fields.get('offset')) }]
}
