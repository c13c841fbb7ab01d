// Compares limits between machines: if they differ, a client's allowance depends on which it reaches.

import { setTimeout as sleep } from 'node:timers/promises'
import { formatDuration } from '../base/text/quantity.ts'
import type { Config } from '../config/model/config.ts'
import type { Logger } from '../log/log.ts'
import { type Peers, type Store, StoreUnreachable } from '../store/contract/store.ts'

const defaultPeriod = 10_000
/** Ms for which a difference is expected, for example while machines are reloaded one after the other. */
const defaultGrace = 5 * 60_000
/** Periods for which a silent machine's limits are kept, so that a restart does not look like a removal. */
const silentPeriods = 6

type Limits = Readonly<Record<string, string>>

export interface LimitDifference {
  readonly rule: string
  readonly limits: readonly { readonly limit: string; readonly machines: readonly string[] }[]
}

interface LimitsWatchOptions {
  readonly store: Pick<Store, 'peers'>
  readonly log: Logger
  readonly period?: number
  readonly grace?: number
}

export class LimitsWatch {
  readonly #store: Pick<Store, 'peers'>
  readonly #log: Logger
  readonly #period: number
  readonly #grace: number
  #limits: Limits
  /** In monotonic ms. */
  #since = new Map<string, number>()
  #differences: readonly LimitDifference[] = []
  /** When the data of the others was last received, and when it becomes complete, in monotonic ms. */
  #heardAt = performance.now()
  #complete = 0
  readonly #end = new AbortController()
  #work: Promise<void> = Promise.resolve()

  constructor(config: LimitsConfig, options: LimitsWatchOptions) {
    const { store, log, period = defaultPeriod, grace = defaultGrace } = options
    this.#store = store
    this.#log = log
    this.#period = period
    this.#grace = grace
    this.#limits = limitsOf(config)
  }

  get differences(): readonly LimitDifference[] {
    return this.#differences
  }

  /** `name` is that of this machine. A gateway that does not serve must not publish limits. */
  start(name: string): void {
    const { peers } = this.#store
    if (peers !== null) this.#work = this.#run(peers, name)
  }

  reload(config: LimitsConfig): void {
    this.#limits = limitsOf(config)
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#work
  }

  async #run(peers: Peers, name: string): Promise<void> {
    const { signal } = this.#end
    while (!signal.aborted) {
      await this.#compare(peers, name)
      await sleep(this.#period, null, { signal, ref: false }).catch(() => {})
    }
  }

  async #compare(peers: Peers, name: string): Promise<void> {
    const lifetime = silentPeriods * this.#period
    try {
      const own = this.#limits
      const published = await peers.exchange(name, JSON.stringify(own), lifetime)
      const now = performance.now()
      // After an outage of the store, the others need time to publish again.
      if (now - this.#heardAt > lifetime - this.#period) this.#complete = now + lifetime
      this.#heardAt = now
      if (now >= this.#complete) this.#judge(differencesIn(own, published), now)
    } catch (cause) {
      // Other parts report that the store is unreachable; the known data stays.
      if (!(cause instanceof StoreUnreachable))
        this.#log.error({ err: cause }, 'comparing limits with other machines failed')
    }
  }

  #judge(published: readonly LimitDifference[], now: number): void {
    this.#since = new Map(published.map(({ rule }) => [rule, this.#since.get(rule) ?? now]))
    const before = new Set(this.#differences.map(({ rule }) => rule))
    this.#differences = published.filter(({ rule }) => now - this.#since.get(rule)! >= this.#grace)
    for (const { rule, limits } of this.#differences)
      if (!before.delete(rule))
        this.#log.warn({ rule, limits }, 'machines on the store have different limits for a rule')
    for (const rule of before)
      this.#log.info({ rule }, 'machines on the store have one limit for a rule again')
  }
}

type LimitsConfig = Pick<Config, 'rateLimits' | 'zones' | 'management'>

function limitsOf({ rateLimits, zones, management }: LimitsConfig): Limits {
  const ofZones = zones.flatMap(zone => [zone, ...zone.routes].flatMap(({ rateLimits }) => rateLimits))
  const rules = [...rateLimits, ...ofZones, { name: 'management writes', ...management.writes }]
  const quotas = zones.flatMap(({ name, quota }) =>
    (['day', 'month'] as const).flatMap(span =>
      quota[span] === null ? [] : [[`quota of ${name} per ${span}`, `${quota[span]}`] as const],
    ),
  )
  return Object.fromEntries([
    ...rules.map(({ name, limit, period }) => [name, `${limit} in ${formatDuration(period)}`] as const),
    ...quotas,
  ])
}

function differencesIn(own: Limits, published: ReadonlyMap<string, string>): readonly LimitDifference[] {
  const machines = [...published].toSorted().map(([name, text]) => [name, readLimits(text)] as const)
  return Object.keys(own).flatMap(rule => {
    const those = machines.filter(([, limits]) => Object.hasOwn(limits, rule))
    const byLimit = Map.groupBy(those, ([, limits]) => limits[rule]!)
    const limits = [...byLimit].map(([limit, group]) => ({ limit, machines: group.map(([name]) => name) }))
    return limits.length > 1 ? [{ rule, limits }] : []
  })
}

/** Parses the data of another machine, perhaps of another version; empty if it has another format. */
function readLimits(text: string): Limits {
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read !== 'object' || read === null) return {}
    return Object.fromEntries(Object.entries(read).filter(([, limit]) => typeof limit === 'string'))
  } catch {
    return {}
  }
}
