// Counts of requests, connections and origins.

import { AccessMetrics } from './access-metrics.ts'
import { AiMetrics } from './ai-metrics.ts'
import { AnswerMetrics } from './answer-metrics.ts'
import { BudgetMetrics } from './budget-metrics.ts'
import { CompressionMetrics } from './compression-metrics.ts'
import { distributions, Tally, tallies } from './distribution.ts'
import { LimitMetrics } from './limit-metrics.ts'
import { McpMetrics } from './mcp-metrics.ts'
import { StoreMetrics } from './store-metrics.ts'

const phases = ['resolve', 'connect', 'handshake', 'send', 'wait', 'receive'] as const

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const
export type StatusClass = (typeof statusClasses)[number]

const errorCodes = 2048

export const customErrorSources = ['zone_rule', 'account_rule', 'zone_page', 'account_page'] as const
export type CustomErrorSource = (typeof customErrorSources)[number]

const slownesses = ['head', 'body_idle', 'body_rate', 'body_timeout', 'response'] as const

const connectionLimits = ['connections', 'connections_per_address', 'penalty', 'descriptors'] as const

const evictedStates = ['silent', 'idle'] as const

const handshakeKinds = ['full', 'resumed', 'validation'] as const
const tlsFailures = [
  'not_tls',
  'client_hello',
  'server_name',
  'version',
  'cipher',
  'protocol',
  'client_alert',
  'closed',
  'timeout',
  'other',
] as const
export type TlsFailure = (typeof tlsFailures)[number]

const clientCertificates = [
  'accepted',
  'missing',
  'expired',
  'not_yet_valid',
  'revoked',
  'authority',
  'purpose',
  'crl',
  'other',
] as const

const proxyFailures = ['untrusted', 'missing', 'malformed', 'closed', 'timeout', 'other'] as const
export type ProxyFailure = (typeof proxyFailures)[number]

const http2Failures = [
  'protocol',
  'settings_timeout',
  'resets',
  'control_frames',
  'header_block',
  'slow_head',
] as const

const originHttp2Faults = [
  'protocol',
  'compression',
  'flow_control',
  'frame_size',
  'head_too_large',
  'flood',
  'silence',
] as const

const expressionUsers = ['access', 'errors', 'limits', 'rewrite'] as const

export const healthStates = ['unchecked', 'healthy', 'failing', 'trial', 'ejected', 'down'] as const

export interface PoolMember {
  readonly pool: string
  readonly origin: string
  readonly state: (typeof healthStates)[number]
}

const gateOutcomes = [
  'passed',
  'missing',
  'invalid',
  'insufficient',
  'refused',
  'unavailable',
  'ended', // while it was open
] as const
type GateOutcome = (typeof gateOutcomes)[number]
type GateKind = 'jwt' | 'forward' | 'token' | 'sign_in'

export class EdgeMetrics {
  readonly zones = new Map<string, ZoneMetrics>()
  readonly phases = distributions(phases)
  readonly errors = new Float64Array(errorCodes)
  readonly retries = new Tally()
  readonly ejections = new Tally()
  readonly retryBudgetExhausted = new Tally()
  /** Returns the state of each origin of each pool; null before there are pools. */
  poolMembers: (() => readonly PoolMember[]) | null = null
  readonly clientAborts = new Tally()
  readonly slowClients = tallies(slownesses)
  readonly clientConnections = new Tally()
  /** Connections of clients with a penalty that are not read yet. */
  readonly heldConnections = new Tally()
  readonly versions = tallies(['1.0', '1.1', '2'])
  readonly http2Failures = tallies(http2Failures)
  readonly refusedConnections = tallies(connectionLimits)
  readonly evictedConnections = tallies(evictedStates)
  readonly shareRequests = tallies(['granted', 'denied', 'late'])
  readonly proxyFailures = tallies(proxyFailures)
  readonly tlsHandshakes = tallies(handshakeKinds)
  readonly tlsFailures = tallies(tlsFailures)
  /** Connections that were cut because their client violated TLS after the handshake. */
  readonly tlsViolations = new Tally()
  readonly clientCertificates = tallies(clientCertificates)
  readonly dialShortages = new Tally()
  readonly originConnections = new Tally()
  /** Those among them that are pinned to one client, which is authenticated by its connection. */
  readonly pinnedConnections = new Tally()
  /** Closed because the origin broke the protocol, flooded it, or stopped responding. */
  readonly originHttp2Faults = tallies(originHttp2Faults)
  readonly originStreams = new Tally()
  readonly originQueue = new Tally()
  readonly originLookups = tallies(['found', 'failed'])
  readonly originChecks = tallies(['good', 'bad'])
  readonly spans = tallies(['exported', 'queue_full', 'export_failed'])
  readonly eventStreams = new Tally()
  readonly webSockets = new Tally()
  readonly compression = new CompressionMetrics()
  readonly mcp = new McpMetrics()
  readonly ai = new AiMetrics()
  readonly answers = new AnswerMetrics()
  readonly budgets = new BudgetMetrics()
  readonly limits = new LimitMetrics()
  readonly store = new StoreMetrics()
  readonly customErrors = tallies(customErrorSources)
  readonly customErrorFailures = new Tally()
  readonly access = new AccessMetrics()
  /** Expressions that failed at run time, and so did not match. */
  readonly expressionFailures = tallies(expressionUsers)

  /** Created on first use; names come from the configuration, or are `none`. */
  zone(name: string): ZoneMetrics {
    const metrics = this.zones.get(name)
    if (metrics) return metrics
    const zone = new ZoneMetrics()
    this.zones.set(name, zone)
    return zone
  }

  /** Drops unused zones except these, `none` and `ai`: names come and go with reloads. */
  keepZones(names: ReadonlySet<string>): void {
    for (const [name, zone] of this.zones) {
      if (names.has(name) || name === 'none' || name === 'ai' || !zone.isUnused) continue
      this.zones.delete(name)
      zone.successor = () => this.zone(name)
    }
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

/** By status class; `other` outside of 100 to 599, `preview` for previews of errors. */
export class ZoneMetrics {
  readonly classes = distributions(['other', ...statusClasses, 'preview'])
  readonly #byDigit = Object.values(this.classes)
  /** By kind; null for those that decided nothing yet. */
  readonly gates: Record<GateKind, Readonly<Record<GateOutcome, Tally>> | null> = {
    jwt: null,
    forward: null,
    token: null,
    sign_in: null,
  }
  /** Returns the counter for requests that were in progress when this one was dropped; null before. */
  successor: (() => ZoneMetrics) | null = null

  get isUnused(): boolean {
    return this.#byDigit.every(({ count }) => count === 0)
  }

  request(status: number, ms: number): void {
    if (this.successor !== null) return this.successor().request(status, ms)
    this.#byDigit[status >= 100 && status < 600 ? (status / 100) | 0 : 0]!.observe(ms)
  }

  gate(kind: GateKind, outcome: GateOutcome): void {
    if (this.successor !== null) return this.successor().gate(kind, outcome)
    const counts = (this.gates[kind] ??= tallies(gateOutcomes))
    counts[outcome].inc()
  }

  preview(ms: number): void {
    this.classes.preview.observe(ms)
  }
}
