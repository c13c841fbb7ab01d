// The pools of a configuration, with their origins as members.

import type { Clock } from '../../base/clock.ts'
import type { EdgeMetrics, PoolMember } from '../../metrics/counters/edge-metrics.ts'
import type { OriginConfig, PoolConfig } from '../../config/model/config.ts'
import { usualRetries } from '../../config/model/pool-config.ts'
import { type HealthSettings, MemberHealth } from '../../pools/health.ts'
import { type MemberState, memberState } from '../../pools/member-state.ts'
import { Member, newLedger, Pool, type PoolLedger } from '../../pools/pool.ts'
import { checkKey, type KeyedCheckResult } from './health/health-checker.ts'
import type { Origin } from './origin.ts'
import type { Origins } from './origins.ts'

export type EdgeMember = Member<Origin>
export type EdgePool = Pool<Origin>

/** As the management API shows it. */
export interface PoolState {
  readonly pool: string
  readonly origins: readonly OriginInProcess[]
}

export interface OriginInProcess extends MemberState {
  /** In all of its pools. */
  readonly connections: number
  readonly http2_connections: number
  readonly queued: number
}

/** One pool for each configuration, however many routes use it. */
export class Pools {
  readonly origins = new Set<Origin>()
  readonly #origins: Origins
  readonly #clock: Clock
  readonly #metrics: EdgeMetrics
  readonly #isRehearsal: boolean
  readonly #byConfig = new Map<PoolConfig, EdgePool>()
  readonly #byCheck = new Map<string, Set<MemberHealth>>()

  /** A rehearsal works on copies, so that its choices do not affect the pools in use. */
  constructor(origins: Origins, clock: Clock, metrics: EdgeMetrics, isRehearsal = false) {
    this.#origins = origins
    this.#clock = clock
    this.#metrics = metrics
    this.#isRehearsal = isRehearsal
  }

  /** Null gets a pool without members. */
  get(config: PoolConfig | null): EdgePool {
    if (config === null) return this.#make(empty)
    let pool = this.#byConfig.get(config)
    if (pool === undefined) this.#byConfig.set(config, (pool = this.#make(config)))
    return pool
  }

  only(origin: OriginConfig): EdgePool {
    return this.#make({ ...empty, origins: [origin], weights: [1] })
  }

  get named(): readonly EdgePool[] {
    return [...this.#byConfig.values()]
  }

  health(): readonly PoolMember[] {
    return this.named.flatMap(({ name: pool, members }) =>
      members.map(({ target, health }) => ({ pool, origin: target.config.url, state: health.state })),
    )
  }

  /** Ignores results for other origins. */
  takeChecks(results: readonly KeyedCheckResult[]): void {
    for (const result of results)
      for (const health of this.#byCheck.get(result.key) ?? []) health.applyCheck(result)
  }

  #make(config: PoolConfig): EdgePool {
    const members = config.origins.map((origin, i) => this.#member(origin, config.weights[i]!, config))
    const ledger = this.#ledgerOf(config, members)
    return new Pool(config, members, this.#isRehearsal ? ledger.copy() : ledger)
  }

  /** Reuses that of the same name, members and settings. */
  #ledgerOf({ name, balance, retries, weights }: PoolConfig, members: readonly EdgeMember[]): PoolLedger {
    const fresh = newLedger({ balance, retries }, members.length, this.#clock)
    if (members.length === 0) return fresh
    const urls = members.map(({ target }) => target.config.url)
    const key = JSON.stringify([name, balance, retries.budget, weights, urls])
    const existing = ledgers.get(members[0]!.target) ?? new Map<string, WeakRef<PoolLedger>>()
    ledgers.set(members[0]!.target, existing)
    const previous = existing.get(key)?.deref()
    if (previous !== undefined) return previous
    for (const [other, ledger] of existing) if (ledger.deref() === undefined) existing.delete(other)
    existing.set(key, new WeakRef(fresh))
    return fresh
  }

  #member(config: OriginConfig, weight: number, pool: PoolConfig): EdgeMember {
    const origin = this.#origins.get(config)
    this.origins.add(origin)
    const health = this.#healthOf(origin, pool)
    if (pool.check !== null) {
      const key = checkKey(config, pool.check)
      this.#byCheck.set(key, (this.#byCheck.get(key) ?? new Set()).add(health))
    }
    return new Member(origin, config.url, weight, health)
  }

  /** The only member is never ejected, so that clients see its own failure. */
  #healthOf(origin: Origin, { origins, ejection, check, slowStart }: PoolConfig): MemberHealth {
    const settings: HealthSettings = { ejection: origins.length > 1 ? ejection : null, check, slowStart }
    const key = JSON.stringify(settings)
    const existing = healths.get(origin) ?? new Map<string, MemberHealth>()
    healths.set(origin, existing)
    let health = existing.get(key)
    if (health === undefined) {
      health = new MemberHealth(settings, this.#clock, () => this.#metrics.ejections.inc())
      existing.set(key, health)
    }
    return health
  }
}

const empty: PoolConfig = {
  name: '',
  origins: [],
  weights: [],
  balance: { by: 'round_robin' },
  retries: usualRetries,
  retryOn: [],
  ejection: null,
  ejectOn: [],
  check: null,
  slowStart: 0,
}

/** Survives a reload with the origin. */
const healths = new WeakMap<Origin, Map<string, MemberHealth>>()

/** By the first member; weakly, since pools come and go while the origin remains. */
const ledgers = new WeakMap<Origin, Map<string, WeakRef<PoolLedger>>>()

/** Describes the members of a pool. */
export function poolState({ name, members }: EdgePool): PoolState {
  return { pool: name, origins: members.map(originState) }
}

function originState(member: EdgeMember): OriginInProcess {
  const { config, connections, http2Connections: http2_connections, queueLength: queued } = member.target
  return { ...memberState(config.url, member), connections, http2_connections, queued }
}
