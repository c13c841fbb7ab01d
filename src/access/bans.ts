// Temporary bans of addresses that ran into refusals again and again. Policies ask and tell; the data plane keeps them over reloads. Each process
// counts for itself.
import type { Clock } from '../base/clock.ts'
import type { BanConfig } from '../config/access-config.ts'

/** Keeps the bans of each policy by its name, as long as the settings stay the same. */
export class Bans {
  readonly #clock: Clock
  readonly #byName = new Map<string, Ban>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Gives the bans of a policy. */
  of(name: string, config: BanConfig): Ban {
    const known = this.#byName.get(name)
    if (known?.isAsIn(config)) return known
    const ban = new Ban(config, this.#clock)
    this.#byName.set(name, ban)
    return ban
  }

  /** Counts the addresses that are banned now. */
  get active(): number {
    let active = 0
    for (const ban of this.#byName.values()) active += ban.active
    return active
  }
}

/** The most addresses that are counted, and the most that are banned: of more, the longest known are forgotten. */
const MOST = 10_000

interface Count {
  refusals: number
  readonly since: number
}

/** The bans of one policy, by the keys of clients. */
export class Ban {
  readonly #config: BanConfig
  readonly #clock: Clock
  readonly #counts = new Map<string, Count>() // the longest not refused first
  readonly #until = new Map<string, number>() // the first to end first, since all last as long

  constructor(config: BanConfig, clock: Clock) {
    this.#config = config
    this.#clock = clock
  }

  get active(): number {
    this.#release(this.#clock.monotonic())
    return this.#until.size
  }

  isAsIn({ refusals, within, lasts }: BanConfig): boolean {
    const config = this.#config
    return config.refusals === refusals && config.within === within && config.lasts === lasts
  }

  has(key: string): boolean {
    if (this.#until.size === 0) return false
    const until = this.#until.get(key)
    return until !== undefined && this.#clock.monotonic() < until
  }

  /** Counts a refusal; its window begins with the first. */
  note(key: string): void {
    const now = this.#clock.monotonic()
    const { refusals, within } = this.#config
    const known = this.#counts.get(key)
    const count = known !== undefined && now - known.since < within ? known : { refusals: 0, since: now }
    count.refusals++
    this.#counts.delete(key)
    if (count.refusals >= refusals) return this.#ban(key, now)
    if (this.#counts.size >= MOST) dropFirst(this.#counts)
    this.#counts.set(key, count)
  }

  #ban(key: string, now: number): void {
    this.#release(now)
    if (this.#until.size >= MOST) dropFirst(this.#until)
    this.#until.delete(key)
    this.#until.set(key, now + this.#config.lasts)
  }

  #release(now: number): void {
    for (const [key, until] of this.#until) {
      if (now < until) return
      this.#until.delete(key)
    }
  }
}

function dropFirst(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
