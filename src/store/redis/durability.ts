// Writes that are on disk, or on a replica too, before they count as done; and what the settings of the server leave open.
// accounts.ts, records.ts and redis-store.ts write through it.
import type { Clock } from '../../base/clock.ts'
import { StoreAway } from '../store.ts'
import type { Argument, Command } from './connect.ts'
import type { Connection } from './connection.ts'
import { keys } from './keys.ts'
import type { Script } from './script.ts'

/** What the settings of a server promise; null where it won't tell. */
export interface Settings {
  readonly version: readonly [major: number, minor: number]
  readonly aof: boolean
  readonly fsync: 'always' | 'everysec' | 'no' | null
  readonly snapshots: boolean | null
  /** How many replicas follow it. */
  readonly replicas: number
  readonly evicts: boolean
}

/** How long settings are believed, in ms: replicas come and go. */
const settingsLife = 5_000
/** How long a write may wait for the disk beyond the timeout of the connection, in ms: the usual server syncs once a second. */
const diskPatience = 1_500

export class DurableWrites {
  readonly #connection: Connection
  /** Another one, since who waits for a proof is answered nothing else. */
  readonly #proofs: Connection
  readonly #timeout: number
  readonly #clock: Clock
  #settings: Settings | null = null
  #settingsAt = 0
  /** The proof that was asked for last, and the one to be asked for once that is there. */
  #last: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  constructor(connection: Connection, proofs: Connection, timeout: number, clock: Clock) {
    this.#connection = connection
    this.#proofs = proofs
    this.#timeout = timeout
    this.#clock = clock
    connection.onArrival(() => {
      this.#settings = null
    })
  }

  /** Runs a script that writes; rejects with `StoreAway` when what it wrote isn't in time as safe as the server can make it. */
  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const settings = await this.#currentSettings()
    const result = await this.#connection.script(script, keys, args)
    if (proofsOf(settings, this.#timeout).length > 0) await this.#prove(settings)
    return result
  }

  /** Reads the settings of the server that has the records. */
  async settings(): Promise<Settings> {
    const asked: readonly Command[] = [
      ['EXISTS', keys.format],
      ['INFO'],
      ['CONFIG', 'GET', 'appendfsync'],
      ['CONFIG', 'GET', 'save'],
    ]
    const [, info, fsync, save] = await this.#connection.runAll(asked)
    return settingsOf(String(info), settingIn(fsync), settingIn(save))
  }

  /** Joins the next proof: one covers all writes before it, and while the disk is waited for there may be many. */
  #prove(settings: Settings): Promise<void> {
    this.#next ??= this.#last = this.#last.catch(ignore).then(() => {
      this.#next = null
      return this.#askProof(settings)
    })
    return this.#next
  }

  /** Writes, and waits for that: servers prove to each connection its own writes only, and with them all before. */
  async #askProof(settings: Settings): Promise<void> {
    const commands = [['SET', keys.proof, 1] as const, ...proofsOf(settings, this.#timeout)]
    const timeout = this.#timeout + (waitsForDisk(settings) ? diskPatience : 0)
    const [, ...answers] = await this.#proofs.runAll(commands, timeout)
    if (answers.every(isProof)) return
    this.#settings = null
    throw new StoreAway(new Error('the write was made, but not confirmed'))
  }

  async #currentSettings(): Promise<Settings> {
    const now = this.#clock.monotonic()
    if (this.#settings && now - this.#settingsAt < settingsLife) return this.#settings
    this.#settings = await this.settings()
    this.#settingsAt = now
    return this.#settings
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
    // Else a failover right after the answer would lose the write.
    ...(settings.replicas > 0 ? [['WAIT', 1, Math.ceil(timeout / 2)] as const] : []),
  ]
}

/** Reads what INFO and CONFIG GET answered; null for a CONFIG GET that was denied. */
export function settingsOf(info: string, fsync: string | null, save: string | null): Settings {
  const facts = new Map(info.split(/\r?\n/).map(line => line.split(':', 2) as [string, string]))
  const [major = 0, minor = 0] = (facts.get('redis_version') ?? '').split('.').map(Number)
  return {
    version: [major, minor],
    aof: facts.get('aof_enabled') === '1',
    fsync: fsync as Settings['fsync'],
    snapshots: save === null ? null : save !== '',
    replicas: Number(facts.get('connected_slaves') ?? 0),
    evicts: Number(facts.get('maxmemory') ?? 0) > 0 && facts.get('maxmemory_policy') !== 'noeviction',
  }
}

function waitsForDisk({ aof, fsync, version: [major, minor] }: Settings): boolean {
  return aof && fsync !== 'always' && (major > 7 || (major === 7 && minor >= 2))
}

function diskLoss(settings: Settings): string | null {
  const { aof, fsync, snapshots } = settings
  const remedy = 'Set appendonly yes and appendfsync always.'
  if (!aof && snapshots === false) return `Redis keeps nothing on disk: all is lost when it ends. ${remedy}`
  if (!aof)
    return `Redis writes ${snapshots ? '' : 'at most '}snapshots, and no append-only file: what changed since the last one is lost when it ends. ${remedy}`
  if (fsync === 'always' || waitsForDisk(settings)) return null
  if (fsync === 'everysec')
    return 'Redis syncs its append-only file once a second: a power cut can lose the last second of changes. Set appendfsync always, or run Redis 7.2 or newer.'
  if (fsync === 'no')
    return 'Redis leaves it to the system when its append-only file is synced: a power cut can lose half a minute of changes. Set appendfsync always.'
  return 'Redis does not tell how often it syncs its append-only file: unless appendfsync is always, a power cut can lose the last changes.'
}

function evictionLoss({ evicts }: Settings): string | null {
  return evicts
    ? 'Redis removes keys when its memory is full: gateways and tokens can vanish. Set maxmemory-policy noeviction.'
    : null
}

/** Takes the value out of the answer to CONFIG GET. */
function settingIn(answer: unknown): string | null {
  return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : null
}

/** WAIT answers with a number, WAITAOF with those of the server and of its replicas. */
function isProof(answer: unknown): boolean {
  return Number(Array.isArray(answer) ? answer[0] : answer) >= 1
}

function ignore(): void {}
