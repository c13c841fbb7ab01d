// What is counted, and how it is shown. The edge moves the numbers, the admin listener exposes them, the supervisor adds up
// those of its workers.

import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { Distribution, Tally } from './distribution.ts'
import { type Family, families } from './metric-families.ts'

export const phases = ['resolve', 'connect', 'handshake', 'send', 'wait', 'receive'] as const
export type Phase = (typeof phases)[number]

/** What one process has counted, as data that crosses from process to process. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const
export type StatusClass = (typeof statusClasses)[number]

const errorCodes = 2048

const reloadResults = ['success', 'failure'] as const

/** Where operators' expressions are asked. */
const expressionUsers = ['access', 'errors', 'limits', 'rewrite'] as const

/** The requests of one zone by status class; a status outside of 100 to 599, such as 0 for none, counts as `other`. */
export class ZoneMetrics {
  readonly classes = distributions(['other', ...statusClasses])
  readonly #byDigit = Object.values(this.classes)

  request(status: number, ms: number): void {
    this.#byDigit[status >= 100 && status < 600 ? (status / 100) | 0 : 0]!.observe(ms)
  }
}

/** Why a call to an AI gateway was let in, or not: closed sets, so that no caller can make labels grow. */
export const allowReasons = ['authenticated', 'authentication_off'] as const
export const refuseReasons = [
  'missing',
  'malformed',
  'unknown',
  'disabled',
  'expired',
  'not_yet_valid',
  'address_denied',
  'forbidden',
  'store_away',
] as const
export type RefuseReason = (typeof refuseReasons)[number]

/** What AI gateways decided and kept. */
export class AiMetrics {
  readonly allowed = tallies(allowReasons)
  readonly refused = tallies(refuseReasons)
  readonly logEntries = tallies(['written', 'dropped', 'over_limit'])
  readonly lookups = tallies(['remembered', 'asked'])
}

/** What an access rule may look at. */
export const accessKinds = [
  'ip',
  'list',
  'country',
  'asn',
  'user_agent',
  'referer',
  'referer_not',
  'path',
  'expression',
] as const
export type AccessKind = (typeof accessKinds)[number]

/** What access rules decided, and what became of the files that they look into. */
export class AccessMetrics {
  readonly allowed = tallies(accessKinds)
  /** `default`: no rule matched, and the zone lets in only whom one does. */
  readonly denied = tallies([...accessKinds, 'default'])
  readonly legal = tallies(accessKinds)
  readonly failed = tallies(accessKinds)
  readonly banned = new Tally()
  readonly listReloads = tallies(reloadResults)
  readonly geoReloads = tallies(reloadResults)
  /** Tells how many addresses are banned now; null where nobody keeps bans. */
  activeBans: (() => number) | null = null
}

/** Whose content stood in place of an error record. */
export const customErrorSources = ['zone_rule', 'account_rule', 'zone_page', 'account_page'] as const
export type CustomErrorSource = (typeof customErrorSources)[number]

/** What DNS can say of a host whose owner is to be proven. */
export const checkOutcomes = [
  'found',
  'no_match',
  'no_records',
  'no_such_name',
  'server_failure',
  'refused',
  'timeout',
  'error',
] as const

export interface PoolMember {
  readonly pool: string
  readonly origin: string
  readonly isHealthy: boolean
}

/** What became of the requests that one rate limit or quota counted. */
export class LimitDecisions {
  readonly allowed = new Tally()
  readonly limited = new Tally()
  readonly logged = new Tally()
}

/** What rate limits and quotas decided, and how. */
export class LimitMetrics {
  readonly rules = new Map<string, LimitDecisions>()
  readonly storeCalls = new Tally()
  readonly fallbacks = new Tally()

  /** Returns the numbers of a rule, which exist from the first call on; names come from the configuration. */
  rule(name: string): LimitDecisions {
    const known = this.rules.get(name)
    if (known) return known
    const decisions = new LimitDecisions()
    this.rules.set(name, decisions)
    return decisions
  }
}

/** The numbers of one data plane; moving one allocates nothing. */
export class EdgeMetrics {
  readonly zones = new Map<string, ZoneMetrics>()
  readonly phases = distributions(phases)
  readonly errors = new Float64Array(errorCodes)
  readonly retries = new Tally()
  readonly ejections = new Tally()
  readonly retryBudgetExhausted = new Tally()
  /** Tells of each member of each pool whether requests may go to it; null before there are pools. */
  poolMembers: (() => readonly PoolMember[]) | null = null
  readonly clientAborts = new Tally()
  readonly clientConnections = new Tally()
  readonly originConnections = new Tally()
  /** Requests that wait for a connection to an origin that may have no more. */
  readonly originQueue = new Tally()
  readonly originLookups = tallies(['found', 'failed'])
  readonly originChecks = tallies(['good', 'bad'])
  readonly eventStreams = new Tally()
  readonly webSockets = new Tally()
  readonly ai = new AiMetrics()
  readonly limits = new LimitMetrics()
  readonly customErrors = tallies(customErrorSources)
  readonly customErrorFailures = new Tally()
  readonly access = new AccessMetrics()
  /** Expressions that failed at run time, and so did not match. */
  readonly expressionFailures = tallies(expressionUsers)

  /** Returns the numbers of the zone, which exist from the first call on; names come from the configuration, or are `none`. */
  zone(name: string): ZoneMetrics {
    const known = this.zones.get(name)
    if (known) return known
    const zone = new ZoneMetrics()
    this.zones.set(name, zone)
    return zone
  }

  error(code: number): void {
    this.errors[code]!++
  }

  retry(): void {
    this.retries.inc()
  }

  clientAbort(): void {
    this.clientAborts.inc()
  }
}

/** All that one process counts, and the registry that shows it. */
export class Metrics {
  readonly edge = new EdgeMetrics()
  readonly domainChecks = tallies(checkOutcomes)
  readonly workerRestarts = new Tally()
  readonly droppedLogLines = new Tally()
  /** Tells whether the store is out of reach; null in a process that is not asked for it. */
  isStoreAway: (() => boolean) | null = null
  readonly reloads = { success: new Tally(), failure: new Tally() }
  readonly version: string
  readonly #registry = new Registry()

  constructor(version: string) {
    this.version = version
    for (const family of families) this.#registry.registerMetric(readOut(family, this))
    collectDefaultMetrics({ register: this.#registry })
  }

  snapshot(): Promise<Snapshot> {
    return this.#registry.getMetricsAsJSON()
  }

  /** Writes the numbers of this process and of the others, added up, in the text format of Prometheus (version 0.0.4). */
  async expose(others: readonly Snapshot[] = []): Promise<string> {
    if (others.length === 0) return this.#registry.metrics()
    return AggregatorRegistry.aggregate([await this.snapshot(), ...others]).metrics()
  }
}

/** Adds up what outlives processes that ended: counters and histograms must never go backwards, gauges die with their process. */
export async function remains(ended: readonly Snapshot[]): Promise<Snapshot> {
  const sums = await AggregatorRegistry.aggregate([...ended]).getMetricsAsJSON()
  return sums.filter(({ type }) => (type as unknown) === 'counter' || (type as unknown) === 'histogram')
}

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE

/** Makes a tally for each name, in their order. */
function tallies<Name extends string>(names: readonly Name[]): Readonly<Record<Name, Tally>> {
  return Object.fromEntries(names.map(name => [name, new Tally()])) as Record<Name, Tally>
}

/** Makes a distribution for each name, in their order. */
function distributions<Name extends string>(names: readonly Name[]): Readonly<Record<Name, Distribution>> {
  return Object.fromEntries(names.map(name => [name, new Distribution()])) as Record<Name, Distribution>
}

/** Dresses a family as a metric of prom-client, whose registry asks no more of one than its `get`. */
function readOut({ type, name, help, read, together }: Family, metrics: Metrics): Metric {
  const aggregator = together ?? (name.endsWith('_info') ? 'first' : 'sum')
  const get = () => ({ name, help, type, aggregator, values: read(metrics) })
  return { name, help, type, aggregator, get } as unknown as Metric
}
