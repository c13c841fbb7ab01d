// A data plane on a free port, with one zone for site.test in front of the origins that a test names, and its records at hand.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/clock.ts'
import { EdgeMetrics } from '../../src/metrics/counters/edge-metrics.ts'
import { AccessLog } from '../../src/log/access-log.ts'
import { createLogger, type LogDestination, type Logger } from '../../src/log/log.ts'
import type { AccessConfig, ListConfig } from '../../src/config/model/access-config.ts'
import type {
  AiConfig,
  Config,
  OriginConfig,
  PoolConfig,
  RouteConfig,
  Timeouts,
  ZoneConfig,
  ZoneTls,
} from '../../src/config/model/config.ts'
import type { CustomErrorsConfig } from '../../src/config/model/custom-errors-config.ts'
import type { QuotaConfig, RateLimitConfig } from '../../src/config/model/limit-config.ts'
import {
  type TransportConfig,
  usualEjection,
  usualRetries,
  usualTransport,
} from '../../src/config/model/pool-config.ts'
import type { AccessSources } from '../../src/access/policy.ts'
import type { AutomaticTls } from '../../src/certificates/acme/automatic.ts'
import type { AiServices, SidePort } from '../../src/edge/snapshot/plane.ts'
import type { ZoneDirectory } from '../../src/edge/snapshot/zone-settings.ts'
import type { Limiter } from '../../src/limits/limiter.ts'
import type { KnownSiteSessions } from '../../src/people/sessions/known-site-sessions.ts'
import type { SigningKeys } from '../../src/tokens/signing-keys.ts'
import { DataPlane } from '../../src/edge/data-plane.ts'
import type { Tally } from '../../src/store/records/tally.ts'
import type { SpanSink } from '../../src/telemetry/span.ts'
import type { NameLookup } from '../../src/edge/resolver/name-lookup.ts'
import { HaltingClock } from './clock.ts'
import { forbidViolations } from './invariants.ts'
import { connectTo, type Message, type Wire } from './raw.ts'
import { until } from './until.ts'

export interface EdgeSettings {
  /** Whether it takes HTTP/2 as well. */
  readonly h2c?: boolean
  readonly route?: Partial<RouteConfig>
  readonly zone?: Partial<ZoneConfig>
  /** Further zones. */
  readonly zones?: readonly ZoneConfig[]
  readonly timeouts?: Partial<Timeouts>
  readonly limits?: Partial<Config['limits']>
  readonly client?: Partial<Config['client']>
  readonly clientAddress?: Config['clientAddress']
  readonly trustedProxies?: readonly string[]
  readonly name?: string
  readonly ai?: Partial<AiConfig>
  /** Of the pool of the one route, and of how its members are reached. */
  readonly pool?: Partial<PoolConfig>
  readonly transport?: Partial<TransportConfig>
  /** Outside of all zones. */
  readonly proxyStatus?: boolean
  readonly serverTiming?: boolean
  /** Of all zones. */
  readonly errors?: Partial<Config['errors']>
  readonly access?: Partial<AccessConfig>
  readonly rateLimits?: readonly RateLimitConfig[]
  readonly lists?: readonly ListConfig[]
  readonly telemetry?: Partial<Config['telemetry']>
}

export type Member = string | { readonly url: string; readonly tls?: Partial<OriginConfig['tls']> }

export const openAccess: AccessConfig = { rules: [], otherwise: 'allow', ban: null }
export const noCustomErrors: CustomErrorsConfig = { rules: [], pages: {} }
const noTlsRules: ZoneTls = {
  redirect: false,
  hsts: null,
  minVersion: 'TLSv1.2',
  ciphers: [],
  fips: false,
  client: null,
}
const noQuota: QuotaConfig = { day: null, month: null }

const documentation = 'http://127.0.0.1/errors'

/** Describes the edge that `startEdge` starts. */
export function edgeConfig(members: readonly Member[], settings: EdgeSettings = {}): Config {
  return {
    name: settings.name ?? 'gatehouse',
    workers: 0,
    listen: [{ host: '127.0.0.1', port: 0, tls: false, ...(settings.h2c && { h2c: true }) }],
    tls: { certificates: [], minVersion: 'TLSv1.2' },
    publicPort: null,
    acme: null,
    fips: false,
    admin: { host: '127.0.0.1', port: 0 },
    errors: { ...noCustomErrors, documentation, previews: 'on', ...settings.errors },
    proxyStatus: settings.proxyStatus ?? false,
    serverTiming: settings.serverTiming ?? false,
    access: { ...openAccess, ...settings.access },
    rateLimits: settings.rateLimits ?? [],
    lists: settings.lists ?? [],
    geo: { databases: [] },
    trustedProxies: settings.trustedProxies ?? [],
    clientAddress: settings.clientAddress ?? 'x-forwarded-for',
    limits: {
      headerSection: 128 * 1024,
      headers: 256,
      url: 16 * 1024,
      requestsPerConnection: 10_000,
      compressionMemory: 128 * 2 ** 20,
      ...settings.limits,
    },
    client: { ...usualClient, ...settings.client },
    http2: { enabled: true, maxConcurrentStreams: 128, penalty: 1_000 },
    log: {
      level: 'error',
      access: true,
      numeric: false,
      sample: { '1xx': 1, '2xx': 1, '3xx': 1, '4xx': 1, '5xx': 1 },
    },
    telemetry: { trace: null, otlp: null, ...settings.telemetry },
    shutdown: { grace: 30_000, webSocketClose: 5_000 },
    store: {
      url: 'sqlite::memory:',
      ca: null,
      sentinelUsername: null,
      sentinelPassword: null,
      commandTimeout: 250,
      grace: 600_000,
    },
    secrets: { key: '0'.repeat(64), oldKeys: [] },
    domains: { resolvers: ['127.0.0.1:9'], timeout: 100 },
    management: {
      writes: { limit: 1_200, period: 300_000 },
      metrics: 'direct',
      audit: { retention: 400 * 86_400_000, entriesPerToken: 100_000 },
    },
    dashboard: { host: null },
    oauth: {
      issuer: null,
      lifetimes: {
        code: 60_000,
        accessToken: 3_600_000,
        refreshToken: 30 * 86_400_000,
        refreshTokenMost: 180 * 86_400_000,
      },
      clientIdMetadataDocuments: { hosts: [], maxClients: 1_000, allowNetworks: [] },
    },
    scopes: [],
    people: { signUp: 'invited', openid: null },
    ai: {
      hosts: [],
      defaultAccount: null,
      customNetworks: [],
      webhookNetworks: [],
      corsOrigins: [],
      bodyLimit: 32 * 2 ** 20,
      uploadLimit: null,
      reuse: { response: 10 * 2 ** 20, gateway: 2 ** 28, total: 2 ** 30, memory: 2 ** 25 },
      timeouts: { ...usualTimeouts, ...settings.timeouts },
      proxy: null,
      noProxy: [],
      providers: [],
      models: [],
      failover: { statuses: [], maxAttempts: 3, deadline: 0, retryWithin: 0 },
      prices: [],
      priceList: null,
      logExport: null,
      ...settings.ai,
    },
    zones: [zoneTo(members, settings), ...(settings.zones ?? [])],
  }
}

/** Describes a zone for site.test with one route to the members. */
export function zoneTo(members: readonly Member[], settings: EdgeSettings = {}): ZoneConfig {
  const route: RouteConfig = {
    path: '/',
    pool: poolOf(members, settings),
    host: 'preserve',
    bodyLimit: 100 * 1024 * 1024,
    timeouts: { ...usualTimeouts, ...settings.timeouts },
    protect: null,
    rewrite: null,
    redirects: 0,
    rateLimits: [],
    compression: null,
    ...settings.route,
  }
  return {
    name: 'site',
    hosts: ['site.test'],
    isDefault: false,
    paused: false,
    account: null,
    access: openAccess,
    rateLimits: [],
    quota: noQuota,
    tls: noTlsRules,
    proxyStatus: false,
    serverTiming: false,
    identity: null,
    errors: noCustomErrors,
    routes: [route],
    ...settings.zone,
  }
}

function poolOf(members: readonly Member[], { pool, transport }: EdgeSettings): PoolConfig {
  return {
    name: 'pool',
    origins: members.map(member => originOf(member, transport)),
    weights: members.map(() => 1),
    balance: { by: 'round_robin' },
    retries: usualRetries,
    retryOn: [],
    ejection: usualEjection,
    ejectOn: [],
    check: null,
    slowStart: 0,
    ...pool,
  }
}

const usualClient: Config['client'] = {
  handshakeTimeout: 10_000,
  headerTimeout: 10_000,
  bodyRate: 500,
  bodyTimeout: 0,
  responseRate: 500,
  connections: 0,
  connectionsPerAddress: 0,
  keepAlive: 75_000,
}

const usualTimeouts: Timeouts = {
  connect: 5_000,
  handshake: 5_000,
  response: 5_000,
  write: 5_000,
  idle: 5_000,
  total: 0,
}

function originOf(member: Member, transport: Partial<TransportConfig> = {}): OriginConfig {
  const { url, tls } = typeof member === 'string' ? { url: member } : { tls: {}, ...member }
  const { protocol, hostname, port, origin } = new URL(url)
  const isTls = protocol === 'https:'
  return {
    url: origin,
    protocol: isTls ? 'https' : 'http',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (isTls ? 443 : 80),
    tls: { verify: true, serverName: null, ca: null, identity: null, ...tls },
    transport: { ...usualTransport, ...transport },
  }
}

/** What a test puts in place of the usual. */
export interface EdgeParts {
  readonly documentation?: string | null
  readonly automatic?: AutomaticTls
  readonly clock?: Clock
  readonly ai?: AiServices
  readonly metrics?: EdgeMetrics
  readonly access?: AccessSources
  readonly zones?: ZoneDirectory
  readonly limiter?: Limiter
  readonly lookup?: NameLookup
  readonly sidePort?: SidePort
  readonly identityKeys?: Pick<SigningKeys, 'current'>
  readonly sessions?: KnownSiteSessions
  readonly spans?: SpanSink
  readonly log?: Logger
}

export class Edge {
  readonly plane: DataPlane
  readonly config: Config
  readonly metrics: EdgeMetrics
  readonly #tallies: Tally[] = []
  /** Lines of the access log, and of the log of events. */
  readonly accesses: Record<string, unknown>[]
  readonly events: Record<string, unknown>[]
  readonly #t: TestContext
  /** Those of its listeners, in their order. */
  ports: readonly number[] = []

  constructor(t: TestContext, config: Config, parts: EdgeParts = {}) {
    this.#t = t
    this.config = config
    this.metrics = parts.metrics ?? new EdgeMetrics()
    this.accesses = []
    this.events = []
    this.plane = new DataPlane(config, {
      documentation,
      accessLog: new AccessLog(linesTo(this.accesses), config.log),
      log: createLogger('error', linesTo(this.events)),
      ...parts,
      report: tallies => this.#tallies.push(...tallies),
      clock: parts.clock ?? new HaltingClock(t),
      metrics: this.metrics,
    })
  }

  get port(): number {
    return this.ports[0]!
  }

  /** What was counted of errors, rules and limits. */
  get tallies(): readonly Tally[] {
    this.plane.tallies.flush()
    return this.#tallies
  }

  /** Waits until so many ms have passed by its own clock, which stands still while a busy machine has no time for it. */
  async pass(ms: number): Promise<void> {
    const end = this.plane.coarseNow + ms
    await until(() => this.plane.coarseNow >= end)
  }

  /** Replaces the configuration; throws when the new one does not build. */
  reload(config: Config): void {
    this.plane.prepare(config).commit()
  }

  connect(from?: string): Promise<Wire> {
    return connectTo(this.#t, this.port, from)
  }

  /** Sends one request on a connection of its own and reads the answer. */
  async ask(request: string): Promise<Message> {
    const client = await this.connect()
    await client.send(request)
    const answer = await client.response(/^[A-Z]+/.exec(request)?.[0])
    assert.equal(client.unread, '', 'nothing strays behind an answer')
    client.leave()
    return answer
  }
}

/** Starts a data plane before the members of one pool; it is destroyed after the test. */
export async function startEdge(
  t: TestContext,
  members: readonly Member[],
  settings: EdgeSettings & Pick<EdgeParts, 'clock' | 'lookup' | 'sidePort'> = {},
): Promise<Edge> {
  const { clock, lookup, sidePort } = settings
  const parts = { ...(clock && { clock }), ...(lookup && { lookup }), ...(sidePort && { sidePort }) }
  return listenAt(t, new Edge(t, edgeConfig(members, settings), parts))
}

/** Binds an edge; it is destroyed after the test. */
export async function listenAt(t: TestContext, edge: Edge): Promise<Edge> {
  t.after(() => edge.plane.destroy())
  forbidViolations(t)
  edge.ports = (await edge.plane.listen({ reusePort: false })).map(({ port }) => port)
  return edge
}

/** Reads the error record of an answer asked for as JSON, and asserts that its header fields agree with it. */
export function recordOf(answer: Message): Record<string, unknown> {
  assert.match(answer.field('content-type') ?? '', /^application\/(problem\+)?json; charset=utf-8$/)
  const record = JSON.parse(answer.text)
  assert.equal(record.svc_error, true)
  assert.equal(record.status, answer.status)
  assert.equal(record.ray_id, answer.field('svc-ray'))
  assert.equal(record.instance, record.ray_id)
  assert.equal(answer.field('retry-after'), record.retryable ? String(record.retry_after) : null)
  assert.equal(answer.field('cache-control'), 'private, no-store')
  return record
}

/** Tells the code of the record in an answer, after `recordOf` looked at it. */
export function codeOf(answer: Message): unknown {
  return recordOf(answer).error_code
}

function linesTo(lines: Record<string, unknown>[]): LogDestination {
  return { write: (line: string) => lines.push(JSON.parse(line)) } as unknown as LogDestination
}
