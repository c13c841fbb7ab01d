// One running gateway, from the first socket to the last.

import { systemClock } from '../../base/clock.ts'
import { Lifecycle, type Part } from '../system/lifecycle.ts'
import type { Logger } from '../../log/log.ts'
import type { StoreHealth } from '../../metrics/counters/counts.ts'
import type { Metrics, Snapshot } from '../../metrics/metrics.ts'
import { RequestHistory } from '../../activity/request-history.ts'
import type { Config, Endpoint, Listener } from '../../config/model/config.ts'
import type { LentRecord } from '../../store/cache/cache-handover.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Tally } from '../../store/records/tally.ts'
import type { Api } from '../../admin/api/api-types.ts'
import type { Unready } from '../../admin/service/health.ts'
import type { Facts } from '../../admin/routes.ts'
import { AdminServer } from '../../admin/server.ts'
import { checkedOrigins, HealthChecker } from '../../edge/origin/health/health-checker.ts'
import { ProviderChecker } from '../../edge/ai/provider-check.ts'
import { LogThrottle } from '../../log/log-throttle.ts'
import type { MetricExporter } from '../../telemetry/metric-exporter.ts'
import type { ManagedPlane, PreparedEverywhere } from '../plane/managed-plane.ts'
import { lastExport, openMetricExport } from '../plane/telemetry.ts'
import { AdminListener } from '../side-port/admin-listener.ts'
import { AiEndpoint } from '../side-port/ai-endpoint.ts'
import { type ApiParts, apiOf } from '../side-port/api-facts.ts'
import type { SidePortApps } from '../side-port/side-port-apps.ts'
import { GatewayCounts } from '../side-port/gateway-counts.ts'
import type { GatewayParts } from './gateway-parts.ts'
import { type Timeouts, defaultTimeouts } from '../side-port/timeouts.ts'
import { type Inheritance, socketsFor } from '../handover/inheritance.ts'
import { assertFree, listenFailure } from '../ports/listen-failure.ts'
import { pagesUrl } from '../ports/pages-url.ts'
import type { Management } from '../services/management.ts'
import type { Services } from '../services/services.ts'
import { ListenerTls } from '../certificates/listener-tls.ts'
import { urlOf } from '../ports/urls.ts'
import { assertFips } from '../../tls/fips.ts'
import { program, version } from '../system/version.ts'

export class Gateway {
  readonly #parts: GatewayParts
  readonly #log: Logger
  readonly #metrics: Metrics
  readonly #timeouts: Timeouts
  readonly #replaces: boolean
  readonly #inherited: Inheritance | null
  readonly #server: AdminServer
  readonly #adminListener: AdminListener
  readonly #checker: HealthChecker
  readonly #providerChecker: ProviderChecker
  readonly #counts: GatewayCounts
  readonly #requests: RequestHistory
  readonly #tls: ListenerTls
  readonly #startedAt = systemClock.now()
  readonly #life: Lifecycle
  readonly #started = Promise.withResolvers<void>()
  #config: Config
  #services: Services | null = null
  #management: Management | null = null
  #apps: SidePortApps | null = null
  #loading: NodeJS.Timeout | undefined
  #plane: ManagedPlane | null = null
  #knownApi: (Pick<ApiParts, 'config' | 'admin' | 'plane'> & { readonly api: Api }) | null = null
  #metricExport: MetricExporter | null = null
  #edge: readonly Listener[] = []

  constructor(config: Config, parts: GatewayParts) {
    const {
      log,
      metrics,
      file = '',
      replaces = false,
      inherited = null,
      countsBefore = async () => [],
    } = parts
    this.#config = config
    this.#parts = parts
    this.#log = log
    this.#metrics = metrics
    this.#timeouts = { ...defaultTimeouts, ...parts.timeouts }
    this.#replaces = replaces
    this.#inherited = inherited
    metrics.storeHealth = () => this.#storeHealth
    this.#tls = new ListenerTls(config, log, metrics)
    this.#checker = new HealthChecker({
      clock: systemClock,
      log,
      metrics: metrics.edge,
      onResults: results => this.#plane?.takeChecks(results),
    })
    this.#providerChecker = new ProviderChecker({
      metrics: metrics.edge,
      log,
      crashed: bug => log.error({ err: bug }, 'provider test failed: internal error'),
    })
    this.#counts = new GatewayCounts({
      metrics,
      plane: () => this.#plane,
      store: () => this.#services?.store ?? null,
      before: countsBefore,
    })
    // It reads at an interval, which also bounds how many counts a killed worker can lose (docs/metrics.md).
    this.#requests = new RequestHistory({ read: () => this.snapshots() })
    this.#server = this.#buildServer()
    this.#adminListener = new AdminListener(config.admin, {
      ...{ server: this.#server, log, file, replaces, inherited, timeouts: this.#timeouts },
      phase: () => this.#life.phase,
      pages: at => pagesUrl(this.#config, at),
    })
    this.#life = new Lifecycle(
      [this.#storePart(), this.#adminPart(), this.#trustPart(), this.#planePart()],
      (part, cause) => log.error({ part, err: cause }, 'shutdown of a part failed'),
    )
  }

  get config(): Config {
    return this.#config
  }

  /** With real ports, once `start` is done. */
  get edge(): readonly Listener[] {
    return this.#edge
  }

  get admin(): Endpoint {
    return this.#adminListener.at
  }

  get store(): Store {
    return this.#services!.store
  }

  get replaced(): Promise<void> {
    return this.#adminListener.replaced
  }

  /** Why no other gateway can replace this one now; null if one can. */
  get settled(): string | null {
    const { phase } = this.#life
    return phase === 'running' ? null : `the gateway is ${phase}`
  }

  get bequest(): Inheritance {
    const { listen } = this.#config
    const edge = (this.#plane?.sockets ?? []).map(socket => {
      const { host, port } = listen[socket.listener]!
      return { ...socket, host, port }
    })
    const { bequest: admin, secret } = this.#adminListener
    return { edge, admin, secret }
  }

  get loans(): readonly LentRecord[] {
    return this.#services?.loans ?? []
  }

  makeWay(): void {
    this.#adminListener.makeWay()
  }

  async goOn(): Promise<void> {
    await this.#adminListener.goOn()
  }

  /** Includes the counts of gateways before this one. */
  async snapshots(): Promise<readonly Snapshot[]> {
    return this.#counts.snapshots()
  }

  get unready(): Unready {
    const { phase } = this.#life
    // A replacement serves before it has the side port.
    if (phase === 'starting' && this.#edge.length === 0) {
      const reasons = this.#storeHealth?.degradation.reasons ?? []
      return reasons.length > 0 ? 'store not trusted' : 'starting'
    }
    if (phase === 'stopping' || phase === 'stopped') return 'draining'
    return this.#plane?.isUp ? null : 'no worker is up'
  }

  /** Rejects with a sentence when an address is not available. */
  async start(): Promise<void> {
    try {
      if (this.#config.fips) assertFips()
      await this.#life.start()
    } catch (cause) {
      this.destroy()
      throw listenFailure(cause, this.#config)
    }
    this.#started.resolve()
    if (this.#life.phase !== 'running') return
    this.#log.info({ version, program, edge: this.#edge, admin: this.admin }, 'ready')
    this.#loading = setTimeout(() => this.#loadApps(), this.#timeouts.appsDelay).unref()
  }

  /** Rejects, and changes nothing, when a part cannot prepare the configuration. */
  async reload(config: Config): Promise<void> {
    await this.#started.promise
    if (this.settled !== null) throw new Error(this.settled)
    const commitTls = await this.#tls.prepare(config)
    const plane = await this.#plane!.prepare(config)
    await this.#commit(config, { commitTls, plane })
  }

  /** Nothing in it waits or can fail; the promise resolves once every process serves the configuration. */
  #commit(
    config: Config,
    { commitTls, plane }: { readonly commitTls: () => Promise<void>; readonly plane: PreparedEverywhere },
  ): Promise<unknown> {
    this.#checker.watch(checkedOrigins(config))
    const applied = [plane.commit(this.#checker.results), commitTls()]
    this.#services!.reload(config)
    this.#management!.reload(config)
    this.#log.level = config.log.level
    this.#config = config
    return Promise.all(applied)
  }

  /** Becomes unready at once, finishes running requests within the configured grace, then stops. */
  stop(): Promise<void> {
    return this.#life.stop()
  }

  async cut(): Promise<void> {
    this.#checker.stop()
    await this.#plane?.cut()
  }

  destroy(): void {
    this.#checker.stop()
    void this.#tls.rest()
    this.#plane?.destroy()
  }

  /** Runs a command for a caller that has proved to operate this machine; null for others. */
  async #obey(authorization: string | null, command: () => Promise<string | object>) {
    if (!this.#adminListener.proves(authorization)) return null
    const outcome = await command()
    return typeof outcome === 'string' ? { reason: outcome } : { report: outcome }
  }

  #buildServer(): AdminServer {
    const log = this.#log
    const facts: Facts = {
      unready: () => this.unready,
      storeHealth: () => this.#storeHealth,
      api: () => this.#api,
      metricsAccess: this.#config.management.metrics,
      metrics: () => this.#counts.expose(),
      reload: authorization => this.#obey(authorization, this.#parts.commands.reload),
      upgrade: authorization => this.#obey(authorization, this.#parts.commands.upgrade),
      handOver: (authorization, request) => this.#adminListener.handOver(authorization, request),
    }
    const failed = (cause: unknown) => log.error({ err: cause }, 'admin listener failed: internal error')
    const server = new AdminServer(facts, failed)
    const warnings = new LogThrottle(log, systemClock)
    server.refused = () => {
      this.#metrics.refusedOperators.inc()
      warnings.warn('refused', {}, 'admin listener connections refused: too many for the file descriptors')
    }
    return server
  }

  get #api(): Api | null {
    const [services, management, plane] = [this.#services, this.#management, this.#plane]
    if (services === null || management === null || plane === null) return null
    const [config, admin, current] = [this.#config, this.admin, this.#knownApi]
    // The other parts stay until the gateway stops.
    if (current?.config === config && current.admin === admin && current.plane === plane) return current.api
    const entrance = new AiEndpoint(() => ({ config, endpoints: this.#edge }))
    const aiOrigin = () => entrance.current?.origin ?? null
    const own = { aiOrigin, log: this.#log, requests: this.#requests, startedAt: this.#startedAt }
    const checker = this.#providerChecker
    const api = apiOf({ config, admin, services, management, plane, checker, tls: this.#tls, ...own })
    this.#knownApi = { config, admin, plane, api }
    return api
  }

  get #storeHealth(): StoreHealth | null {
    return this.#services?.store ?? null
  }

  #buildApps(services: Services, management: Management): SidePortApps | null {
    const sidePort = () => urlOf(this.admin)
    const askAs: AdminServer['askAs'] = (...question) => this.#server.askAs(...question)
    const edge = () => ({ config: this.#config, endpoints: this.#edge })
    const parts = { config: this.#config, services, management, sidePort, edge, askAs, log: this.#log }
    return this.#parts.openApps?.(parts) ?? null
  }

  #loadApps(): void {
    this.#apps
      ?.load()
      .catch((cause: unknown) => this.#log.error({ err: cause }, 'loading the pages of the side port failed'))
  }

  #storePart(): Part {
    return {
      name: 'store',
      deadline: () => this.#timeouts.storeGrace,
      start: async () => {
        const services = await this.#parts.openServices(this.#config, () => this.admin)
        this.#services = services
        this.#parts.loansBefore?.(records => services.adopt(records))
        this.#management = await this.#parts.openManagement(this.#config, this.#services.store)
        services.secrets = this.#management.secrets
        this.#tls.open(this.#services.store, this.#management, () => this.#plane)
        this.#apps = this.#buildApps(this.#services, this.#management)
        this.#server.apps = this.#apps?.all ?? []
        this.#server.published = this.#apps?.published ?? []
        this.#server.front = this.#apps?.front ?? null
      },
      stop: async () => {
        clearTimeout(this.#loading)
        await this.#apps?.close()
        await this.#tls.close()
        await this.#management?.close()
        await this.#services?.close()
      },
    }
  }

  #adminPart(): Part {
    return {
      name: 'admin listener',
      deadline: () => this.#timeouts.adminGrace,
      start: () => this.#adminListener.start(),
      stop: () => this.#adminListener.stop(),
    }
  }

  /** Zones are not served before the store is trusted: deny rules may be missing. */
  #trustPart(): Part {
    const ended = Promise.withResolvers<void>()
    return {
      name: 'store trust',
      deadline: () => 0,
      start: () => this.#awaitTrust(ended.promise),
      stop: () => ended.resolve(),
    }
  }

  async #awaitTrust(ended: Promise<void>): Promise<void> {
    const { degradation, location } = this.store
    const [reason] = degradation.reasons
    if (reason === undefined) return
    const { code, message, remedy } = reason
    // The previous gateway keeps serving with its cached records.
    if (this.#replaces || (this.#inherited?.secret ?? null) !== null)
      throw new Error(`the store is not trusted: ${message}. ${remedy}`)
    this.#log.error({ store: location, code, reason: message, next: remedy }, 'not ready: store not trusted')
    this.#parts.waiting(message)
    const trusted = new Promise<void>(resolve =>
      degradation.follow(() => {
        const [now] = degradation.reasons
        if (now === undefined) resolve()
        else this.#parts.waiting(now.message)
      }),
    )
    await Promise.race([trusted, ended])
  }

  #planePart(): Part {
    return {
      name: 'data plane',
      deadline: () => this.#config.shutdown.grace + this.#timeouts.drainSlack,
      start: () => this.#startPlane(),
      stop: async () => {
        this.#checker.stop()
        this.#providerChecker.close()
        this.#requests.close()
        this.#management?.rest()
        await this.#tls.rest()
        await this.#plane?.drain(this.#config.shutdown.grace)
        await this.#metricExport?.close(lastExport)
      },
    }
  }

  async #startPlane(): Promise<void> {
    const sockets = socketsFor(this.#config, this.#inherited?.edge ?? [])
    await this.#assertFree(new Set(sockets.map(({ listener }) => listener)))
    const plane = await this.#buildPlane()
    this.#plane = plane
    await this.#tls.shareTicketKeys(this.#config, this.store, this.#management!, plane)
    await this.#tls.serve(this.#config)
    this.#edge = await plane.listen(sockets)
    this.#tls.start()
    this.#requests.start()
    this.#metricExport = await openMetricExport(this.#config, this.#log, () => this.#counts.collect())
    this.#checker.ownEndpoints = this.#edge
    this.#providerChecker.ownEndpoints = this.#edge
    this.#checker.watch(checkedOrigins(this.#config))
    if (this.#adminListener.isToSucceed) await this.#adminListener.succeed()
    this.#management!.serve(this.admin)
  }

  async #assertFree(bound: ReadonlySet<number>): Promise<void> {
    const { hasBefore } = this.#adminListener
    // On shared ports, the kernel reports no conflict; a replaced gateway shares its ports until then.
    const isAlone = !this.#replaces || !hasBefore
    // The workers of a killed gateway keep its sockets for a few moments.
    const mayBeReleased = hasBefore || this.#inherited?.isPartial === true
    const timeout = mayBeReleased ? this.#timeouts.edgeRelease : 0
    const unbound = this.#config.listen.filter((_, listener) => !bound.has(listener))
    if (isAlone) for (const endpoint of unbound) await assertFree(endpoint, timeout)
  }

  async #buildPlane(): Promise<ManagedPlane> {
    // A reload may put the first gate that people sign in for before a zone.
    const issuer = this.#server.published.length > 0 ? await this.#server.listenForEdge() : null
    const sidePort = { endpoint: this.admin, issuer, secret: this.#adminListener.secret }
    const { tallies } = this.#management!
    const tallied = (counted: readonly Tally[]) => tallies.add(counted)
    const { documentation } = this.#config.errors
    return this.#parts.buildPlane(this.#config, this.#services!, { documentation, sidePort, tallied })
  }
}
