// The active health checks, made in the main process for all workers.

import { hash } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import type { EdgeMetrics } from '../../../metrics/counters/edge-metrics.ts'
import type { Logger } from '../../../log/log.ts'
import type { Config, Endpoint, OriginConfig } from '../../../config/model/config.ts'
import type { CheckConfig } from '../../../config/model/pool-config.ts'
import type { CheckResult } from '../../../pools/health.ts'
import { AddressGuard } from '../../resolver/address-guard.ts'
import { type CheckedOrigin, type CheckContext, type CheckOutcome, checkHealth } from './health-check.ts'
import { NameLookup } from '../../resolver/name-lookup.ts'

const firstChecks = 1_000
/** So that gateways do not check in step. */
const jitter = 0.1

export interface KeyedCheckResult extends CheckResult {
  readonly key: string
}

interface HealthCheckerOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: EdgeMetrics
  readonly onResults: (results: readonly KeyedCheckResult[]) => void
  readonly lookup?: NameLookup
}

/** The same in every process with that configuration. */
export function checkKey(origin: OriginConfig, check: CheckConfig): string {
  return hash('sha256', JSON.stringify([origin, check]), 'base64url')
}

export function checkedOrigins({ zones }: Config): CheckedOrigin[] {
  const pools = new Set(zones.flatMap(({ routes }) => routes.flatMap(({ pool }) => pool ?? [])))
  return [...pools].flatMap(({ origins, check }) =>
    check === null ? [] : origins.map(origin => ({ origin, check })),
  )
}

export function checkKeys(config: Config): ReadonlySet<string> {
  return new Set(checkedOrigins(config).map(({ origin, check }) => checkKey(origin, check)))
}

export class HealthChecker {
  readonly #options: HealthCheckerOptions
  readonly #context: CheckContext
  readonly #targets = new Map<string, Target>()

  constructor(options: HealthCheckerOptions) {
    this.#options = options
    const lookup = options.lookup ?? new NameLookup()
    this.#context = { lookup, lastAddresses: new Map(), guard: new AddressGuard() }
  }

  set ownEndpoints(endpoints: readonly Endpoint[]) {
    this.#context.guard.ownEndpoints = endpoints
  }

  /** Even for origins whose settings have changed since. */
  get results(): readonly KeyedCheckResult[] {
    return [...this.#targets.values()].flatMap(({ result }) => result ?? [])
  }

  /** Checks that remain are not restarted. */
  watch(origins: readonly CheckedOrigin[]): void {
    const watched = new Map(origins.map(checked => [checkKey(checked.origin, checked.check), checked]))
    const existing = this.#byRequest()
    for (const [key, target] of this.#targets) {
      if (watched.has(key)) continue
      target.stop()
      this.#targets.delete(key)
    }
    for (const [key, checked] of watched)
      if (!this.#targets.has(key)) this.#begin(key, checked, existing.get(requestOf(checked)) ?? null)
    const hosts = new Set(origins.map(({ origin }) => origin.host))
    for (const name of this.#context.lastAddresses.keys())
      if (!hosts.has(name)) this.#context.lastAddresses.delete(name)
  }

  stop(): void {
    this.watch([])
    this.#context.lookup.close()
  }

  #begin(key: string, checked: CheckedOrigin, predecessor: Target | null): void {
    const target = new Target(key, checked, this.#options, this.#context, predecessor)
    this.#targets.set(key, target)
    target.start()
  }

  #byRequest(): Map<string, Target> {
    return new Map([...this.#targets.values()].map(target => [requestOf(target.checked), target]))
  }
}

function requestOf({ origin, check }: CheckedOrigin): string {
  return `${check.path} ${origin.url}`
}

/** Its state changes after several checks in a row. */
class Target {
  result: KeyedCheckResult | null = null
  readonly checked: CheckedOrigin
  readonly #key: string
  readonly #options: HealthCheckerOptions
  readonly #context: CheckContext
  readonly #stopped = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #isUp = true
  #since: number
  /** In a row. */
  #contradictions = 0

  constructor(
    key: string,
    checked: CheckedOrigin,
    options: HealthCheckerOptions,
    context: CheckContext,
    predecessor: Target | null,
  ) {
    this.#key = key
    this.checked = checked
    this.#options = options
    this.#context = context
    this.#since = options.clock.now()
    if (predecessor === null) return
    this.#isUp = predecessor.#isUp
    this.#since = predecessor.#since
    this.result = predecessor.result && { ...predecessor.result, key }
  }

  start(): void {
    this.#checkIn(Math.random() * Math.min(firstChecks, this.checked.check.interval))
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#stopped.abort()
  }

  #checkIn(delay: number): void {
    const check = () => void this.#check()
    this.#timer = setTimeout(check, delay).unref()
  }

  /** A bug is not blamed on the origin. */
  async #check(): Promise<void> {
    try {
      await this.#checkOnce()
    } catch (bug) {
      this.#options.log.error(
        { err: bug, origin: this.checked.origin.url },
        'health check failed: internal error',
      )
      if (!this.#stopped.signal.aborted) this.#checkIn(this.checked.check.interval)
    }
  }

  async #checkOnce(): Promise<void> {
    const { clock, onResults } = this.#options
    const { signal } = this.#stopped
    const [lastCheckAt, start] = [clock.now(), clock.monotonic()]
    const outcome = await checkHealth(this.checked, this.#context, signal)
    const lastDuration = clock.monotonic() - start
    if (signal.aborted) return
    const interval = this.checked.check.interval * (1 - jitter + 2 * jitter * Math.random())
    const delay = Math.max(0, start + interval - clock.monotonic())
    this.#judge(outcome)
    this.result = {
      key: this.#key,
      isUp: this.#isUp,
      since: this.#since,
      nextCheckAt: clock.now() + delay,
      lastCheckAt,
      lastDuration,
      lastStatus: 'status' in outcome ? outcome.status : null,
      lastError: 'error' in outcome ? outcome.error : null,
    }
    onResults([this.result])
    this.#checkIn(delay)
  }

  #judge(outcome: CheckOutcome): void {
    const { least: minStatus, most: maxStatus, healthy, unhealthy } = this.checked.check
    const isGood = 'status' in outcome && outcome.status >= minStatus && outcome.status <= maxStatus
    this.#options.metrics.originChecks[isGood ? 'good' : 'bad'].inc()
    this.#contradictions = isGood === this.#isUp ? 0 : this.#contradictions + 1
    if (this.#contradictions >= (isGood ? healthy : unhealthy)) this.#change(isGood, outcome)
  }

  #change(isUp: boolean, outcome: CheckOutcome): void {
    const { clock, log } = this.#options
    const { url } = this.checked.origin
    this.#isUp = isUp
    this.#since = clock.now()
    this.#contradictions = 0
    if (isUp) log.info({ origin: url }, 'origin up: health checks pass again')
    else log.warn({ origin: url, ...outcome }, 'origin down: health checks fail')
  }
}
