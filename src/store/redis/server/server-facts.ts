// What one server is: primary or replica, which run of it, which history of writes it has, and who follows it.

import type { Command } from './connect.ts'

export interface ServerFacts {
  readonly role: 'primary' | 'replica'
  /** Another one after each restart; null where the server won't tell. */
  readonly runId: string | null
  /** The id of the history of writes that it goes on with, another one for each primary; null where the server won't tell. */
  readonly history: string | null
  /** How far that history has come. */
  readonly offset: number
  /** The history that the server went on with before, and how far; null where it knows of none. */
  readonly former: Reach | null
  /** The replicas that are online; null where the server won't tell. */
  readonly replicas: readonly Follower[] | null
}

/** How far a history has come. */
export interface Reach {
  readonly history: string
  readonly offset: number
}

export interface Follower {
  /** `host:port` */
  readonly name: string
  /** How far it has come, as it said last. */
  readonly offset: number
}

const unknown = { runId: null, history: null, offset: 0, former: null, replicas: null } as const

/** What tells the facts, and HELLO, which nobody can be denied. */
export type FactCommands = readonly [source: Command, hello: Command]

/** The run is in none but the whole of INFO. */
export const allFacts: FactCommands = [['INFO'], ['HELLO']]
export const fewFacts: FactCommands = [['INFO', 'replication'], ['HELLO']]
/** Where INFO is denied: no histories, but the replicas. */
export const roleFacts: FactCommands = [['ROLE'], ['HELLO']]

/** Reads what these commands answered; null when the server doesn't even tell whether it is a primary. */
export function factsOf([source, hello]: readonly unknown[]): ServerFacts | null {
  return factsOfSource(source) ?? factsOfHello(hello)
}

/** Reads what INFO, its section `replication`, or ROLE answered; null when that was denied. */
export function factsOfSource(answer: unknown): ServerFacts | null {
  if (Array.isArray(answer)) return factsOfRole(answer)
  return typeof answer === 'string' ? factsOfInfo(answer) : null
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

/** Redis counts to the first byte that it has not, and from -1 where there is no such history. */
function formerIn(lines: ReadonlyMap<string, string>): Reach | null {
  const end = Number(lines.get('second_repl_offset') ?? -1)
  return end < 0 ? null : { history: lines.get('master_replid2') ?? '', offset: end - 1 }
}

/** Returns names and values of INFO. */
export function linesOf(info: string): ReadonlyMap<string, string> {
  const pairs = info
    .split(/\r?\n/)
    .map(line => [line.split(':', 1)[0]!, line.slice(line.indexOf(':') + 1)] as const)
  return new Map(pairs)
}

/** Reads `master`, how far it has come, and host, port and reach of each replica that is online. */
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

/** Reads whether the server is a node of a cluster, from INFO or HELLO. */
export function isNodeOfCluster(info: unknown, hello: unknown): boolean {
  if (typeof info === 'string') return linesOf(info).get('cluster_enabled') === '1'
  return Array.isArray(hello) && hello[hello.indexOf('mode') + 1] === 'cluster'
}

/** Reads `ip=…,port=…,state=online,offset=…,lag=…`. */
function followerOf(text: string): readonly Follower[] {
  const fields = new Map(text.split(',').map(part => part.split('=', 2) as [string, string]))
  if (fields.get('state') !== 'online') return []
  return [{ name: `${fields.get('ip')}:${fields.get('port')}`, offset: Number(fields.get('offset')) }]
}
