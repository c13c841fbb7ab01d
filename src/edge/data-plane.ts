// The data plane of one process: the configuration in effect, and what all its requests share.

import { type Clock, systemClock } from '../base/clock.ts'
import type { ListeningSocket } from '../net/socket/listening-socket.ts'
import type { EdgeMetrics } from '../metrics/counters/edge-metrics.ts'
import type { AccessLog } from '../log/access-log.ts'
import type { Logger } from '../log/log.ts'
import { SidePortAuth } from '../net/http/side-port-auth.ts'
import type { Config, Listener } from '../config/model/config.ts'
import { Bans } from '../access/bans/bans.ts'
import { type AutomaticTls, nothingAutomatic } from '../certificates/acme/automatic.ts'
import type { AccessParts, AccessSources } from '../access/policy.ts'
import { Limiter } from '../limits/limiter.ts'
import type { Explained, RequestInQuestion } from '../zones/explanation.ts'
import type { Tally } from '../store/records/tally.ts'
import type { KnownSiteSessions } from '../people/sessions/known-site-sessions.ts'
import { TallyBook } from '../activity/tally-book.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import type { SpanSink } from '../telemetry/span.ts'
import { StreamCheckpoints } from './ai-call/stream-checkpoints.ts'
import { Clients } from './accept/clients.ts'
import { type ListenOptions, Listeners } from './accept/listeners.ts'
import type { Share, ShareClaim } from './accept/connection-share.ts'
import { Gates } from './gates/gates.ts'
import { CloudKeys } from './cloud-keys/cloud-keys.ts'
import { rehearse } from './explain/rehearsal.ts'
import { guarded } from '../base/guarded.ts'
import { LogThrottle } from '../log/log-throttle.ts'
import { limitNames } from './snapshot/limit-rules.ts'
import type { NameLookup } from './resolver/name-lookup.ts'
import { Origins } from './origin/origins.ts'
import type { AiServices, Plane, SidePort } from './snapshot/plane.ts'
import type { TicketKeySet } from '../tls/ticket-keys.ts'
import { checkKeys, type KeyedCheckResult } from './origin/health/health-checker.ts'
import { type PoolState, poolState } from './origin/pools.ts'
import { ModelLists } from './ai/model-lists.ts'
import { takeBacklog } from './protect/review.ts'
import { ProviderChecker } from './ai/provider-check.ts'
import { type ProviderInProcess, providerStates } from './ai/provider-states.ts'
import { automaticParts, buildSnapshot, type Snapshot, type SnapshotParts } from './snapshot/snapshot.ts'
import type { ZoneDirectory } from './snapshot/zone-settings.ts'

/** A timeout may be late by this many ms. */
const tickPeriod = 100
/** What is to end with a session must end within a second, of which the store takes the rest. */
const ticksPerReview = 3

interface DataPlaneOptions {
  /** Without a trailing slash; null for the gateway's own pages on every host. */
  readonly documentation: string | null
  readonly metrics: EdgeMetrics
  readonly accessLog: AccessLog | null
  readonly log: Logger
  readonly spans?: SpanSink | null
  readonly ai?: AiServices
  readonly sidePort?: SidePort
  readonly identityKeys?: Pick<SigningKeys, 'current'>
  readonly sessions?: KnownSiteSessions
  readonly access?: AccessSources
  readonly zones?: ZoneDirectory
  readonly limiter?: Limiter
  readonly bans?: Bans
  readonly report?: (tallies: readonly Tally[]) => unknown
  readonly automatic?: AutomaticTls
  /** By default all of it. */
  readonly share?: Share
  readonly clock?: Clock
  /** By default with the system. */
  readonly lookup?: NameLookup
}

export interface PreparedConfig {
  /** In one step, in which nothing can fail. */
  commit(checks?: readonly KeyedCheckResult[]): void
  discard(): void
}

export class DataPlane implements Plane {
  readonly clock: Clock
  readonly metrics: EdgeMetrics
  readonly accessLog: AccessLog | null
  readonly log: Logger
  readonly spans: SpanSink | null
  readonly ai: AiServices | null
  readonly models: ModelLists
  readonly #providers: ProviderChecker
  readonly sidePort: Plane['sidePort']
  readonly documentation: string | null
  geo: Plane['geo']
  readonly limiter: Limiter
  readonly tallies: TallyBook
  snapshot: Snapshot
  coarseNow: number
  securePort = 443
  readonly abandoned: Plane['abandoned'] = new Set()
  readonly checkpoints = new StreamCheckpoints()
  readonly isRehearsal = false
  isReviewing = false
  isDraining = false
  isGoingAway = false
  #access: AccessParts
  readonly #bans: Bans
  readonly #cloudKeys: CloudKeys
  readonly #gates: Gates
  readonly #zones: ZoneDirectory | null
  #automatic: AutomaticTls
  #config: Config
  #next: Next | null = null
  readonly #origins: Origins
  readonly #clients: Clients
  readonly #listeners: Listeners
  readonly #checks = new Map<string, KeyedCheckResult>()
  readonly #listen: readonly Listener[]
  readonly #ticker: NodeJS.Timeout
  readonly #unfollow: (() => void) | null
  readonly #warnings: LogThrottle
  #ticks = 0
  #dateSecond = 0
  #date = ''

  constructor(config: Config, { clock = systemClock, ...options }: DataPlaneOptions) {
    this.clock = clock
    this.metrics = options.metrics
    this.accessLog = options.accessLog
    this.log = options.log
    this.spans = options.spans ?? null
    this.ai = options.ai ?? null
    this.sidePort = options.sidePort ? withAuth(options.sidePort) : null
    this.documentation = options.documentation
    const bans = options.bans ?? new Bans(clock)
    this.#bans = bans
    this.#access = { ...(options.access ?? nothingKnown), bans, metrics: this.metrics }
    this.metrics.access.activeBans = () => bans.active
    this.#zones = options.zones ?? null
    this.#automatic = options.automatic ?? nothingAutomatic
    this.#config = config
    this.#cloudKeys = new CloudKeys({ clock, log: this.log })
    this.#gates = new Gates({
      ...{ clock, log: this.log, sessions: options.sessions ?? null },
      identityKeys: options.identityKeys ?? noKeys,
    })
    this.geo = this.#access.geo
    this.limiter = options.limiter ?? new Limiter({ clock })
    this.tallies = new TallyBook(clock, options.report ?? (() => {}))
    this.coarseNow = clock.monotonic()
    this.#listen = config.listen
    this.#warnings = new LogThrottle(this.log, clock)
    this.#clients = new Clients(this, this.#warnings, options.share)
    this.#listeners = new Listeners({
      hold: connection => this.#clients.hold(connection),
      accept: (socket, listener) => this.#clients.accept(socket, listener),
      acceptFailed: error => this.#warnings.warn('accept', { err: error }, 'accepting a client failed'),
    })
    const { limits } = this.#clients
    const mayDial = (dials: number) => limits.mayDial(this.metrics.originConnections.value + dials)
    this.#origins = new Origins({ clock, metrics: this.metrics, log: this.log, mayDial }, options.lookup)
    const crashed = (bug: unknown) => this.#crashed(bug)
    this.#providers = new ProviderChecker({ metrics: this.metrics, crashed, log: this.log, clock })
    this.models = new ModelLists({ clock, get: (...ask) => this.#providers.get(...ask) })
    this.snapshot = this.#build(config, this.#access)
    bans.keep(config)
    this.#logBroken()
    this.metrics.poolMembers = () => this.snapshot.pools.health()
    const tick = guarded(
      () => this.#tick(),
      bug => this.#crashed(bug),
    )
    this.#unfollow = this.ai?.custom.follow(account => this.#releaseOwn(account)) ?? null
    this.#ticker = setInterval(tick, tickPeriod).unref()
  }

  /** Returns the listeners with their real ports; binds none if one fails. */
  async listen(options: ListenOptions): Promise<readonly Listener[]> {
    const bound = await this.#listeners.bind(this.#listen, options)
    this.#origins.ownEndpoints = bound
    this.#providers.ownEndpoints = bound
    this.securePort = bound.find(({ tls }) => tls)?.port ?? 443
    this.#clients.limits.measure()
    return bound
  }

  get sockets(): readonly ListeningSocket[] {
    return this.#listeners.sockets
  }

  adopt(socket: ListeningSocket): Promise<void> {
    return this.#listeners.adopt(this.#listen[socket.listener]!, socket)
  }

  release(socket: Omit<ListeningSocket, 'handle' | 'isAlone'>): void {
    this.#listeners.release(socket)
  }

  /**
   * Builds all that another configuration needs. Throws, and changes nothing, if it does not build, or
   * removes from a zone what an API-managed rule names.
   */
  prepare(config: Config, sources: AccessSources = this.#access): PreparedConfig {
    const access = { ...this.#access, ...sources }
    try {
      const snapshot = this.#build(config, access)
      for (const [zone, flaw] of snapshot.broken)
        if (!this.snapshot.broken.has(zone))
          throw new Error(`zone ${zone} conflicts with its API-managed rules: ${flaw}`)
      this.#next = { config, access, snapshot }
    } catch (cause) {
      this.#discard()
      throw cause
    }
    return { commit: checks => this.#commit(this.#next!, checks), discard: () => this.#discard() }
  }

  #commit({ config, access, snapshot }: Next, checks: readonly KeyedCheckResult[] = []): void {
    const didRequest = requestsCertificates(this.#config)
    this.#next = null
    this.#access = access
    this.geo = access.geo
    this.#install(snapshot, config)
    this.models.expire()
    this.takeChecks(checks)
    if (didRequest || requestsCertificates(config)) this.#clients.retire()
  }

  #discard(): void {
    this.#next = null
    this.#keepOnly(this.#config)
  }

  refresh(): void {
    this.#install(this.#build(this.#config, this.#access), this.#config)
    const next = this.#next
    if (next !== null) next.snapshot = this.#build(next.config, next.access)
  }

  takeCertificates(automatic: AutomaticTls): void {
    this.#automatic = automatic
    const served = (config: Config, snapshot: Snapshot) => ({
      ...snapshot,
      ...automaticParts(config, automatic, snapshot),
    })
    this.snapshot = served(this.#config, this.snapshot)
    const next = this.#next
    if (next !== null) next.snapshot = served(next.config, next.snapshot)
  }

  #install(snapshot: Snapshot, config: Config): void {
    const keys = checkKeys(config)
    for (const key of this.#checks.keys()) if (!keys.has(key)) this.#checks.delete(key)
    snapshot.pools.takeChecks([...this.#checks.values()])
    this.snapshot = snapshot
    this.#config = config
    this.#keepOnly(config)
    this.#logBroken()
  }

  #keepOnly(config: Config): void {
    this.#bans.keep(config)
    this.#origins.keep(this.snapshot.origins)
    const zones = new Set(config.zones.map(({ name }) => name))
    this.metrics.keepZones(zones)
    this.metrics.limits.keepRules(limitNames(config))
    this.tallies.keepZones(zones)
  }

  /** Closes connections to providers that an account may have deleted: idle ones now, others after use. */
  #releaseOwn(account: string | null): void {
    const { ai, origins } = this.snapshot
    if (ai === null) return
    ai.releaseOwn(account)
    this.#origins.keep(this.#next === null ? origins : origins.union(this.#next.snapshot.origins))
  }

  #logBroken(): void {
    for (const [zone, reason] of this.snapshot.broken)
      this.log.error({ zone, reason }, 'zone disabled: its API-managed rules failed to compile')
  }

  grantShare(key: string, count: number): void {
    this.#clients.grantShare(key, count)
  }

  leaveShare(claim: ShareClaim): number {
    return this.#clients.leaveShare(claim)
  }

  get pools(): readonly PoolState[] {
    return this.snapshot.pools.named.map(poolState)
  }

  get providers(): readonly ProviderInProcess[] {
    const { ai } = this.snapshot
    return ai === null ? [] : providerStates(ai, this.clock)
  }

  explain(question: RequestInQuestion): Promise<Explained> {
    return rehearse(
      {
        plane: this,
        config: this.#config,
        limiter: this.limiter,
        bans: this.#bans,
        snapshotParts: this.#partsWith(this.#access),
      },
      question,
    )
  }

  takeChecks(results: readonly KeyedCheckResult[]): void {
    for (const result of results) this.#checks.set(result.key, result)
    this.snapshot.pools.takeChecks(results)
  }

  /** A reload keeps them. */
  takeTicketKeys(keys: TicketKeySet): void {
    this.snapshot.certificates.useTicketKeys(keys)
    this.#next?.snapshot.certificates.useTicketKeys(keys)
  }

  /** Lets exchanges finish, and cuts what is left after `grace` ms. */
  async drain(grace: number): Promise<void> {
    await this.#listeners.closeWhenQuiet()
    // Only now: a client whose connection closes reconnects at once, and must not meet a listener that is
    // closing.
    this.isDraining = true
    const drained = this.#clients.drain(grace)
    const farewell = this.#farewellIn(grace)
    await drained
    clearTimeout(farewell)
    this.destroy()
  }

  /** Closes WebSockets before the grace ends, at the earliest when half of it is over. */
  #farewellIn(grace: number): NodeJS.Timeout | undefined {
    const before = Math.min(this.#config.shutdown.webSocketClose, grace / 2)
    if (before === 0) return undefined
    const goAway = () => {
      this.isGoingAway = true
      this.#clients.goAway()
    }
    return setTimeout(
      guarded(goAway, bug => this.#crashed(bug)),
      grace - before,
    )
  }

  destroy(): void {
    clearInterval(this.#ticker)
    this.#unfollow?.()
    this.tallies.flush()
    this.#listeners.close()
    this.#clients.destroy()
    for (const call of this.abandoned) call.expire()
    this.#origins.destroy()
    this.#providers.close()
  }

  date(): string {
    const now = this.clock.now()
    const second = Math.floor(now / 1000)
    if (second !== this.#dateSecond) {
      this.#dateSecond = second
      this.#date = new Date(now).toUTCString()
    }
    return this.#date
  }

  #build(config: Config, access: AccessParts): Snapshot {
    return buildSnapshot(config, this.#partsWith(access))
  }

  #partsWith(access: AccessParts): SnapshotParts {
    return {
      origins: this.#origins,
      metrics: this.metrics,
      access,
      tallies: this.tallies,
      zones: this.#zones,
      automatic: this.#automatic,
      clock: this.clock,
      cloudKeys: this.#cloudKeys,
      gates: this.#gates,
      issuer: this.sidePort?.issuer ?? null,
      before: this.snapshot ?? null,
    }
  }

  noteShortage(failure: { readonly code?: string }): void {
    this.metrics.dialShortages.inc()
    this.#warnings.warn('dial', { err: failure }, 'origin connections failed: no file descriptors left')
  }

  #tick(): void {
    this.coarseNow = this.clock.monotonic()
    this.isReviewing = takeBacklog() || ++this.#ticks % ticksPerReview === 0
    this.#clients.sweep(this.coarseNow)
    this.#origins.sweep(this.coarseNow)
    this.checkpoints.look(this.coarseNow)
    for (const call of this.abandoned) if (this.coarseNow >= call.deadline) call.expire()
  }

  #crashed(bug: unknown): void {
    this.log.error({ err: bug }, 'background task failed: internal error')
  }
}

/** Later changes are built into it, too. */
interface Next {
  readonly config: Config
  readonly access: AccessParts
  snapshot: Snapshot
}

const noKeys: Pick<SigningKeys, 'current'> = { current: () => Promise.reject(new Error('there is no store')) }

const nothingKnown: AccessSources = {
  lists: {
    get: name => {
      throw new Error(`list ${name} is not loaded`)
    },
  },
  geo: null,
}

function requestsCertificates({ zones }: Config): boolean {
  return zones.some(({ tls }) => tls.client !== null)
}

function withAuth({ secret, ...ports }: SidePort): Plane['sidePort'] {
  return { ...ports, auth: new SidePortAuth(secret) }
}
