// Writes that are on disk, and on a replica where there is one, before they count as done, as far as the server can say so.
// accounts.ts, records.ts and redis-store.ts write through it.
import type { Clock } from '../../base/clock.ts'
import { StoreAway } from '../store.ts'
import type { Argument, Command } from './connect.ts'
import type { Connection } from './connection.ts'
import { keys } from './keys.ts'
import type { Script } from './script.ts'
import { diskPatience, proofsOf, type Settings, settingsOf, waitsForDisk } from './settings.ts'

/** How long settings are believed, in ms: replicas come and go. */
const settingsLife = 5_000

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

  /** Resolves when all that was written before is as safe as what `run` writes: what was called lost may be there all the same. */
  async confirm(): Promise<void> {
    const settings = await this.#currentSettings()
    if (proofsOf(settings, this.#timeout).length > 0) await this.#prove(settings)
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
    return settingsOf(info instanceof Error ? '' : String(info), settingIn(fsync), settingIn(save))
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

/** Takes the value out of the answer to CONFIG GET. */
function settingIn(answer: unknown): string | null {
  return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : null
}

/** WAIT answers with a number, WAITAOF with those of the server and of its replicas. */
function isProof(answer: unknown): boolean {
  return Number(Array.isArray(answer) ? answer[0] : answer) >= 1
}

function ignore(): void {}
