// What a server does for the safety of writes: what its settings say, what they can lose, and what it can be asked to prove.
// durability.ts asks for them.
import type { Command } from './connect.ts'

/** What the settings of a server promise; null where it won't tell. */
export interface Settings {
  readonly version: readonly [major: number, minor: number]
  readonly aof: boolean | null
  readonly fsync: 'always' | 'everysec' | 'no' | null
  readonly snapshots: boolean | null
  /** How many replicas follow it. */
  readonly replicas: number
  readonly evicts: boolean
}

/** How long a write may wait for the disk beyond the timeout of the connection, in ms: the usual server syncs once a second. */
export const diskPatience = 1_500

/** Reads what INFO and CONFIG GET answered; empty and null where they were denied. */
export function settingsOf(info: string, fsync: string | null, save: string | null): Settings {
  const facts = new Map(info.split(/\r?\n/).map(line => line.split(':', 2) as [string, string]))
  const [major = 0, minor = 0] = (facts.get('redis_version') ?? '').split('.').map(Number)
  const aof = facts.get('aof_enabled')
  return {
    version: [major, minor],
    aof: aof === undefined ? null : aof === '1',
    fsync: fsync as Settings['fsync'],
    snapshots: save === null ? null : save !== '',
    replicas: Number(facts.get('connected_slaves') ?? 0),
    evicts: Number(facts.get('maxmemory') ?? 0) > 0 && facts.get('maxmemory_policy') !== 'noeviction',
  }
}

/** Says in sentences what a server with these settings can lose. */
export function lossesOf(settings: Settings): readonly string[] {
  return [diskLoss(settings), evictionLoss(settings)].filter(sentence => sentence !== null)
}

/** The commands that wait until what was written before is safe. */
export function proofsOf(settings: Settings, timeout: number): readonly Command[] {
  return [
    ...(waitsForDisk(settings) ? [['WAITAOF', 1, 0, diskPatience] as const] : []),
    // Else a failover right after the answer would lose the write. Half of the time, since a server looks at its clock ten times a second.
    ...(settings.replicas > 0 ? [['WAIT', 1, Math.ceil(timeout / 2)] as const] : []),
  ]
}

/** Tells whether the server can, and has to, say when its disk has a write. */
export function waitsForDisk({ aof, fsync, version: [major, minor] }: Settings): boolean {
  return aof === true && fsync !== 'always' && (major > 7 || (major === 7 && minor >= 2))
}

function diskLoss(settings: Settings): string | null {
  const { aof, fsync, snapshots } = settings
  if (aof === null)
    return 'Redis does not tell whether it keeps an append-only file: unless it does, with appendfsync always, changes can be lost.'
  if (!aof && snapshots === false)
    return `Redis keeps nothing on disk: all is lost when it ends. Set appendonly yes and appendfsync always.`
  if (!aof)
    return `Redis writes ${snapshots ? '' : 'at most '}snapshots, and no append-only file: what changed since the last one is lost when it ends. Set appendonly yes and appendfsync always.`
  if (fsync === 'always' || waitsForDisk(settings)) return null
  if (fsync === 'everysec')
    return 'Redis syncs its append-only file once a second: a power cut can lose the last second of changes. Set appendfsync always, or run Redis 7.2 or newer.'
  if (fsync === 'no')
    return 'Redis leaves it to the system when its append-only file is synced: a power cut can lose half a minute of changes. Set appendfsync always.'
  return 'Redis does not tell how often it syncs its append-only file: unless appendfsync is always, a power cut can lose the last changes.'
}

function evictionLoss({ evicts }: Settings): string | null {
  return evicts
    ? 'Redis removes keys when its memory is full: gateways, tokens and OAuth clients can vanish. Set maxmemory-policy noeviction.'
    : null
}
