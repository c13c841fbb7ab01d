// How a server protects writes: its settings, what they can lose, and what it can be asked to prove.

import type { Command } from './connect.ts'
import { linesOf } from './server-facts.ts'

/** What the settings of a server guarantee; null if it does not tell. */
export interface Settings {
  readonly version: readonly [major: number, minor: number]
  /** Whether it replies to WAITAOF before it has synced, as far as its version tells. */
  readonly confirmsEarly: boolean
  readonly aof: boolean | null
  readonly fsync: 'always' | 'everysec' | 'no' | null
  readonly snapshots: boolean | null
  /** Which keys it evicts when its memory is full: any, or only those that expire. */
  readonly evicts: 'any' | 'expiring' | null
  /** The minimum number of closely following replicas with which it accepts writes. */
  readonly minReplicas: number | null
}

/** How long a write may wait for the disk beyond the timeout of the connection, in ms. */
export const diskTimeout = 1_500

export const settingsCommands = [
  ['INFO'],
  ['HELLO'],
  ['CONFIG', 'GET', 'appendfsync'],
  ['CONFIG', 'GET', 'save'],
  ['CONFIG', 'GET', 'min-replicas-to-write'],
] as const satisfies readonly Command[]

/** Parses the replies to these commands; a reply is an error if it was denied. */
export function settingsOf([info, hello, fsync, save, minReplicas]: readonly unknown[]): Settings {
  const facts = linesOf(typeof info === 'string' ? info : '')
  const [major = 0, minor = 0] = (facts.get('redis_version') ?? versionIn(hello)).split('.').map(Number)
  const isValkey = facts.has('valkey_version') || (Array.isArray(hello) && hello.includes('valkey'))
  const aof = facts.get('aof_enabled')
  const [saves, replicas] = [settingIn(save), settingIn(minReplicas)]
  return {
    version: [major, minor],
    confirmsEarly: isValkey || major < 8,
    aof: aof === undefined ? null : aof === '1',
    fsync: settingIn(fsync) as Settings['fsync'],
    snapshots: saves === null ? null : saves !== '',
    evicts: evictionIn(facts),
    minReplicas: replicas === null ? null : Number(replicas),
  }
}

/** The replicas that confirm writes besides the server itself. */
export interface Confirmers {
  readonly needed: number
  /** The number of exempt replicas, which cannot become the primary at present. */
  readonly spared: number
  /** The authority on the primary: Sentinels, the nodes of a cluster, or null for none. */
  readonly judges: 'sentinels' | 'nodes' | null
}

/** Describes in sentences what a server with these settings can lose. */
export function lossesOf(settings: Settings, confirmers: Confirmers): readonly string[] {
  return [
    diskLoss(settings),
    powerLoss(settings, confirmers),
    evictionLoss(settings),
    partitionLoss(settings, confirmers),
    replacementLoss(confirmers),
    spareLoss(confirmers),
  ].filter(sentence => sentence !== null)
}

/** Returns the commands that wait until earlier writes are on disk, if requested, and on some replicas. */
export function proofsOf({ disk, needed, timeout }: Needs): readonly Command[] {
  return [
    ...(disk ? [['WAITAOF', 1, 0, diskTimeout] as const] : []),
    // Half of the time, since a server checks timeouts ten times a second.
    ...(needed > 0 ? [['WAIT', needed, Math.ceil(timeout / 2)] as const] : []),
  ]
}

interface Needs {
  readonly disk: boolean
  readonly needed: number
  readonly timeout: number
}

/** Whether a server that syncs once a second has to be watched until it has, since WAITAOF does not tell. */
export function needsWatching(settings: Settings): boolean {
  return waitsForDisk(settings) && settings.confirmsEarly && settings.fsync === 'everysec'
}

/** Whether the server can, and must, report when a write is on its disk. */
export function waitsForDisk({ aof, fsync, version: [major, minor] }: Settings): boolean {
  return aof === true && fsync !== 'always' && (major > 7 || (major === 7 && minor >= 2))
}

function diskLoss(settings: Settings): string | null {
  const { aof, fsync, snapshots, confirmsEarly } = settings
  if (aof === null)
    return 'Redis does not say whether it keeps an append-only file: unless it does, with appendfsync always, changes can be lost.'
  if (!aof && snapshots === false)
    return `Redis keeps nothing on disk: all data is lost when it stops. Set appendonly yes and appendfsync always.`
  if (!aof)
    return `Redis writes ${snapshots ? '' : 'at most '}snapshots, and no append-only file: changes since the last snapshot are lost when it stops. Set appendonly yes and appendfsync always.`
  if (fsync === 'always' || (waitsForDisk(settings) && !(confirmsEarly && fsync === null))) return null
  if (fsync === 'everysec')
    return 'Redis syncs its append-only file once a second: if it is killed or the power fails, the last seconds of changes can be lost. Set appendfsync always, or run Redis 7.2 or newer.'
  if (fsync === 'no')
    return 'Redis lets the system decide when to sync its append-only file: if it is killed or the power fails, half a minute of changes can be lost. Set appendfsync always.'
  return 'Redis does not say how often it syncs its append-only file: unless appendfsync is always, the last changes can be lost if it is killed or the power fails.'
}

/** Replicas confirm by their memory: WAITAOF would wait in vain for one without an append-only file. */
function powerLoss(settings: Settings, { needed }: Confirmers): string | null {
  if (needed === 0 || !waitsForDisk(settings)) return null
  return 'Redis replicas confirm changes before these are on their disks: if the power of all servers fails at once and a replica is promoted, the last seconds of changes can be lost. Set appendfsync always.'
}

function evictionLoss({ evicts }: Settings): string | null {
  if (evicts === 'any')
    return 'Redis evicts keys when its memory is full: gateways, tokens and OAuth clients can be lost. Set maxmemory-policy noeviction.'
  if (evicts === 'expiring')
    return 'Redis evicts expiring keys when its memory is full: sessions, OAuth tokens and their revocations can be lost, rate limit counters, what was spent of budgets, and responses for an Idempotency-Key, so that a repeated request is executed again. Set maxmemory-policy noeviction.'
  return null
}

function partitionLoss({ minReplicas }: Settings, { needed }: Confirmers): string | null {
  if (needed === 0 || minReplicas !== 0) return null
  return 'A primary that is cut off from its replicas accepts log entries and counts that are lost when a replica is promoted. Set min-replicas-to-write 1.'
}

function replacementLoss({ needed, judges }: Confirmers): string | null {
  if (needed === 0 || judges !== null) return null
  return 'Redis has replicas, but the URL names no Sentinels: a failover is noticed only when a replica disconnects. Every replica seen since the start must confirm writes; restart Gatehouse after removing one for good.'
}

function spareLoss({ needed, spared }: Confirmers): string | null {
  if (spared === 0) return null
  return `Sentinels call ${spared} of ${spared + needed} replicas down or unfit: new writes reach only the others, and are lost if these fail, or if one of the former is promoted before it has caught up.`
}

/** Returns which keys the server evicts when full, according to INFO; null if none or unknown. */
export function evictionIn(facts: ReadonlyMap<string, string>): Settings['evicts'] {
  const policy = facts.get('maxmemory_policy')
  if (Number(facts.get('maxmemory') ?? 0) === 0 || policy === 'noeviction') return null
  return policy?.startsWith('volatile') ? 'expiring' : 'any'
}

function versionIn(hello: unknown): string {
  return Array.isArray(hello) && hello.includes('version') ? String(hello[hello.indexOf('version') + 1]) : ''
}

function settingIn(reply: unknown): string | null {
  return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null
}
