// Temporary bans of refused addresses. They survive reloads; the supervisor counts for all workers.

import type { Clock } from '../../base/clock.ts'
import type { BanConfig } from '../../config/model/access-config.ts'
import type { Config } from '../../config/model/config.ts'

/** Called for each counted refusal; the last one before a ban reports as many as lead to a ban. */
type Noted = (id: string, key: string, refusals: number) => void
/** `lasts` is in ms. */
type Banned = (id: string, key: string, lasts: number) => void

interface BanListeners {
  readonly noted?: Noted
  readonly banned?: Banned
}

export type BanNews = readonly (readonly [id: string, numbers: ReadonlyMap<string, number>])[]

export interface BanBook {
  has(key: string): boolean
  /** Returns the remaining ms of a ban; 0 for a key that is not banned. */
  left(key: string): number
  note(key: string): void
}

export class Bans {
  readonly #clock: Clock
  readonly #listeners: BanListeners
  readonly #byId = new Map<string, Ban>()

  constructor(clock: Clock, listeners: BanListeners = {}) {
    this.#clock = clock
    this.#listeners = listeners
  }

  of(owner: string, config: BanConfig): Ban {
    const id = idOf(owner, config)
    const existing = this.#byId.get(id)
    if (existing !== undefined) return existing
    const ban = new Ban(id, config, this.#clock, this.#listeners)
    this.#byId.set(id, ban)
    return ban
  }

  get still(): { of(owner: string, config: BanConfig): BanBook } {
    return {
      of: (owner, config) => {
        const ban = this.of(owner, config)
        return { has: key => ban.has(key), left: key => ban.left(key), note: () => {} }
      },
    }
  }

  keep({ access, zones }: Pick<Config, 'access' | 'zones'>): void {
    const live = new Set<Ban>()
    if (access.ban) live.add(this.of(banOwner(null), access.ban))
    for (const { name, access } of zones) if (access.ban) live.add(this.of(banOwner(name), access.ban))
    for (const [id, ban] of this.#byId) if (!live.has(ban)) this.#byId.delete(id)
  }

  get active(): number {
    let active = 0
    for (const ban of this.#byId.values()) active += ban.active
    return active
  }

  get standing(): BanNews {
    return [...this.#byId].flatMap(([id, ban]) => (ban.active === 0 ? [] : [[id, ban.standing] as const]))
  }

  count(news: BanNews): void {
    for (const [id, numbers] of news)
      for (const [key, refusals] of numbers) this.#byId.get(id)?.note(key, refusals)
  }

  impose(news: BanNews): void {
    for (const [id, numbers] of news) for (const [key, left] of numbers) this.#byId.get(id)?.impose(key, left)
  }
}

/** Names a zone, or (null) all zones, in logs and in the bans of a policy. */
export function banOwner(zone: string | null): string {
  return zone === null ? 'of all zones' : `of ${zone}`
}

function idOf(owner: string, { refusals, within, lasts }: BanConfig): string {
  return `${owner} ${refusals} ${within} ${lasts}`
}

/** Max counted addresses, and banned ones; the oldest are forgotten. */
const maxKeys = 10_000

interface Count {
  refusals: number
  readonly since: number
}

class Ban implements BanBook {
  readonly #id: string
  readonly #config: BanConfig
  readonly #clock: Clock
  readonly #listeners: BanListeners
  readonly #counts = new Map<string, Count>() // least recently refused first
  readonly #until = new Map<string, number>() // roughly in order of their end: all last equally long

  constructor(id: string, config: BanConfig, clock: Clock, listeners: BanListeners) {
    this.#id = id
    this.#config = config
    this.#clock = clock
    this.#listeners = listeners
  }

  get active(): number {
    this.#release(this.#clock.monotonic())
    return this.#until.size
  }

  get standing(): ReadonlyMap<string, number> {
    const now = this.#clock.monotonic()
    return new Map([...this.#until].map(([key, until]) => [key, until - now]))
  }

  has(key: string): boolean {
    if (this.#until.size === 0) return false
    const until = this.#until.get(key)
    return until !== undefined && this.#clock.monotonic() < until
  }

  left(key: string): number {
    return Math.max(0, (this.#until.get(key) ?? 0) - this.#clock.monotonic())
  }

  /** Counts refusals of a key that is not banned; its window begins with the first. */
  note(key: string, refusals = 1): void {
    if (this.has(key)) return
    const now = this.#clock.monotonic()
    const { refusals: max, within, lasts } = this.#config
    const existing = this.#counts.get(key)
    const count =
      existing !== undefined && now - existing.since < within ? existing : { refusals: 0, since: now }
    count.refusals += refusals
    this.#counts.delete(key)
    if (count.refusals >= max) {
      this.#ban(key, now, lasts)
      // The windows of two processes do not start together, so a count that suffices here must suffice there.
      this.#listeners.noted?.(this.#id, key, max)
      this.#listeners.banned?.(this.#id, key, lasts)
      return
    }
    if (this.#counts.size >= maxKeys) dropFirst(this.#counts)
    this.#counts.set(key, count)
    this.#listeners.noted?.(this.#id, key, refusals)
  }

  impose(key: string, left: number): void {
    this.#counts.delete(key)
    if (!this.has(key)) this.#ban(key, this.#clock.monotonic(), left)
  }

  #ban(key: string, now: number, lasts: number): void {
    if (this.#until.size >= maxKeys) dropFirst(this.#until)
    this.#until.delete(key)
    this.#until.set(key, now + lasts)
  }

  #release(now: number): void {
    for (const [key, until] of this.#until) {
      if (now < until) return
      this.#until.delete(key)
    }
  }
}

function dropFirst(map: Map<string, unknown>): void {
  map.delete(map.keys().next().value!)
}
