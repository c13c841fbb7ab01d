// One running gateway: the store, the admin listener and the data plane, from the first socket to the last.

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { systemClock } from '../../base/clock.ts'
import { Lifecycle, type Part } from '../../base/lifecycle.ts'
import type { Logger } from '../../log/log.ts'
import type { StoreSigns } from '../../metrics/counts.ts'
import type { Metrics, Snapshot } from '../../metrics/metrics.ts'
import { RequestHistory } from '../../metrics/request-history.ts'
import { Vouch } from '../../base/vouch.ts'
import type { Config, Endpoint, Listener } from '../../config/config.ts'
import type { AutomaticTls } from '../../certificates/automatic.ts'
import type { Store } from '../../store/store.ts'
import type { Tally } from '../../store/tally.ts'
import type { Api } from '../../admin/row.ts'
import type { Instance } from '../../admin/overview/instance.ts'
import type { Unready } from '../../admin/health.ts'
import type { Facts } from '../../admin/routes.ts'
import { AdminServer } from '../../admin/server.ts'
import { checkedOrigins, HealthChecker } from '../../edge/origin/health-checker.ts'
import { LogThrottle } from '../../edge/log-throttle.ts'
import type { SidePort } from '../../edge/plane.ts'
import { type Before, HandoverNote, takeOver } from './handover.ts'
import { TicketKeeper } from '../../certificates/ticket-keeper.ts'
import { AutomaticCertificates } from '../acme/automatic-certificates.ts'
import { CertificateWatch } from './certificate-watch.ts'
import { ClientTrustWatch } from './client-trust-watch.ts'
import { type Inheritance, socketsFor } from './inheritance.ts'
import { assertFree, isInUse, listenFailure, noneToReplace } from './listen-failure.ts'
import type { MetricExporter } from '../../telemetry/metric-exporter.ts'
import type { ManagedPlane } from '../plane/managed-plane.ts'
import { lastExport, openMetricExport } from '../plane/telemetry.ts'
import type { Management } from './management.ts'
import { pagesUrl } from './pages-url.ts'
import { Presence } from './presence.ts'
import type { FaceParts, Faces } from './faces.ts'
import type { Services } from './services.ts'
import { copyPath } from '../store/location.ts'
import { issuerOf, urlOf } from '../url.ts'
import { assertFips } from '../../tls/fips.ts'
import { version } from '../version.ts'
import { zoneFacts } from '../plane/zone-facts.ts'

/** The timeouts and intervals of a gateway that starts and stops; in ms, except `mostTries`. */
interface Patience {
  /** How long the data plane may take to stop, beyond the grace. */
  readonly drainSlack: number
  /** How long the admin listener may take for open requests when it stops. */
  readonly adminGrace: number
  /** How long queued writes may take. */
  readonly storeGrace: number
  /** How often a gateway that has released its side port checks who has it. */
  readonly successionInterval: number
  /** How often a gateway tries to bind a side port that another one is releasing. */
  readonly mostTries: number
  /** How long the edge of a gateway that is stopping may take to release its ports. */
  readonly edgePatience: number
}

const usualPatience: Patience = {
  drainSlack: 5_000,
  adminGrace: 2_000,
  storeGrace: 5_000,
  successionInterval: 500,
  mostTries: 3,
  edgePatience: 5_000,
}

interface GatewayParts {
  readonly log: Logger
  readonly metrics: Metrics
  /** Whether it replaces the gateway that runs here. */
  readonly replaces?: boolean
  /** Sockets that are bound already. */
  readonly inherited?: Inheritance | null
  /** Returns what the gateways before this one counted. */
  readonly countsBefore?: () => Promise<readonly Snapshot[]>
  /** Overrides of the defaults. */
  readonly patience?: Partial<Patience>
  /** `sidePort` returns where the side port is; its port is real once it listens. */
  readonly openServices: (config: Config, sidePort: () => Endpoint) => Promise<Services>
  readonly openManagement: (config: Config, store: Store) => Promise<Management>
  /** Builds what the side port serves beside the management API. */
  readonly openFaces?: (parts: Omit<FaceParts, 'metrics'>) => Faces
  /** Builds the data plane, once the address of the side port is known. */
  readonly buildPlane: (config: Config, services: Services, shared: Shared) => ManagedPlane
}

/** What every process of the data plane needs. */
interface Shared {
  /** The base URL of the error documentation. */
  readonly documentation: string
  readonly sidePort: SidePort
  /** Takes what was counted of errors, rules and limits. */
  readonly tallied: (tallies: readonly Tally[]) => void
}

export class Gateway {
  readonly #log: Logger
  readonly #openServices: GatewayParts['openServices']
  readonly #openManagement: GatewayParts['openManagement']
  readonly #openFaces: GatewayParts['openFaces']
  readonly #buildPlane: GatewayParts['buildPlane']
  /** The secret by which the data plane vouches for its clients to the side port, for the life of this gateway. */
  #secret: Buffer = randomBytes(32)
  readonly #server: AdminServer
  readonly #replaces: boolean
  readonly #inherited: Inheritance | null
  readonly #countsBefore: NonNullable<GatewayParts['countsBefore']>
  readonly #patience: Patience
  readonly #note = new HandoverNote()
  readonly #presence = new Presence()
  #succession: NodeJS.Timeout | undefined
  readonly #replaced = Promise.withResolvers<void>()
  /** The gateway that was found at the side port. */
  #before: Before | null = null
  readonly #checker: HealthChecker
  readonly #requests: RequestHistory
  readonly #certificates: CertificateWatch
  readonly #clientTrust: ClientTrustWatch
  #tickets: TicketKeeper | null = null
  readonly #metrics: Metrics
  readonly #startedAt = systemClock.now()
  readonly #life: Lifecycle
  readonly #started = Promise.withResolvers<void>()
  #config: Config
  #services: Services | null = null
  #management: Management | null = null
  #faces: Faces | null = null
  #automatic: AutomaticCertificates | null = null
  #plane: ManagedPlane | null = null
  #metricExport: MetricExporter | null = null
  #edge: readonly Listener[] = []
  #admin: Endpoint

  constructor(
    config: Config,
    {
      log,
      metrics,
      replaces = false,
      inherited = null,
      countsBefore = async () => [],
      patience,
      openServices,
      openManagement,
      openFaces,
      buildPlane,
    }: GatewayParts,
  ) {
    this.#config = config
    this.#admin = config.admin
    this.#log = log
    this.#replaces = replaces
    this.#inherited = inherited
    this.#countsBefore = countsBefore
    this.#patience = { ...usualPatience, ...patience }
    this.#openServices = openServices
    this.#openManagement = openManagement
    this.#openFaces = openFaces
    metrics.storeSigns = () => this.#storeSigns
    this.#certificates = new CertificateWatch(config.tls, log, systemClock)
    this.#clientTrust = new ClientTrustWatch(config.zones, log, systemClock)
    metrics.clientTrust = () => this.#clientTrust.expiries
    metrics.ticketKeys = () => this.#tickets
    metrics.certificates = () => [...this.#certificates.expiries, ...(this.#automatic?.expiries ?? [])]
    metrics.renewals = () => this.#automatic?.renewals ?? []
    metrics.automaticCertificates = () => this.#automatic?.states ?? {}
    this.#metrics = metrics
    this.#buildPlane = buildPlane
    this.#checker = new HealthChecker({
      clock: systemClock,
      log,
      metrics: metrics.edge,
      told: results => this.#plane?.takeChecks(results),
    })
    // Its looks also bound what is lost of the counts of a worker that is killed (docs/metrics.md).
    this.#requests = new RequestHistory({ read: () => this.snapshots() })
    const facts: Facts = {
      unready: () => this.unready,
      storeSigns: () => this.#storeSigns,
      api: () => this.#api,
      metricsAccess: config.management.metrics,
      metrics: async () => {
        metrics.oauthGrants = await this.#countGrants()
        return metrics.expose(await this.#othersCounts())
      },
      upgrade: async authorization => {
        if (!this.#note.proves(authorization)) return null
        const reason = await this.upgrade()
        return reason === null ? 'done' : { reason }
      },
      handOver: (authorization, replaces) => this.#handOver(authorization, replaces),
    }
    const failed = (cause: unknown) => log.error({ err: cause }, 'admin listener failed: internal error')
    this.#server = new AdminServer(facts, failed, new Vouch(this.#secret))
    const warnings = new LogThrottle(log, systemClock)
    this.#server.refused = () => {
      metrics.refusedOperators.inc()
      warnings.warn('refused', {}, 'admin listener connections refused: too many for the file descriptors')
    }
    this.#life = new Lifecycle([this.#storePart(), this.#adminPart(), this.#planePart()], (part, cause) =>
      log.error({ part, err: cause }, 'shutdown of a part failed'),
    )
  }

  /** Has the process replaced by a new one; resolves with the reason where it is not. */
  upgrade: () => Promise<string | null> = async () => 'this process cannot be replaced'

  /** The configuration in effect. */
  get config(): Config {
    return this.#config
  }

  /** The addresses that serve clients, with real ports, once `start` is done. */
  get edge(): readonly Listener[] {
    return this.#edge
  }

  get admin(): Endpoint {
    return this.#admin
  }

  /** The store, once `start` is done. */
  get store(): Store {
    return this.#services!.store
  }

  /** Resolves once another gateway has replaced it, so that it must stop. */
  get replaced(): Promise<void> {
    return this.#replaced.promise
  }

  /** Why no other gateway can replace this one now; null where one can. */
  get settled(): string | null {
    const { phase } = this.#life
    return phase === 'running' ? null : `the gateway is ${phase}`
  }

  /** The sockets and the secret for the gateway that is to replace this one. */
  get bequest(): Inheritance {
    const { listen, admin } = this.#config
    const edge = (this.#plane?.sockets ?? []).map(socket => {
      const { host, port } = listen[socket.listener]!
      return { ...socket, host, port }
    })
    const { handle } = this.#server
    return { edge, admin: handle && { ...admin, at: this.#admin, handle }, secret: this.#secret }
  }

  /** Leaves the side port to the gateway that serves from now on, and has this one stop. */
  makeWay(): void {
    this.#server.hush()
    this.#presence.hide()
    this.#replaced.resolve()
  }

  /** Is the gateway that others find again, after another one did not replace it. */
  async goOn(): Promise<void> {
    await this.#leaveNote()
  }

  /** Returns the counts of all processes, those before this gateway included. */
  async snapshots(): Promise<readonly Snapshot[]> {
    return [await this.#metrics.snapshot(), ...(await this.#othersCounts())]
  }

  get unready(): Unready {
    const { phase } = this.#life
    // A replacement serves before it has the side port.
    if (phase === 'starting' && this.#edge.length === 0) return 'starting'
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
      throw listenFailure(cause)
    }
    this.#started.resolve()
    if (this.#life.phase !== 'running') return
    this.#log.info({ version, edge: this.#edge, admin: this.#admin }, 'ready')
  }

  /** Replaces the configuration, once it is started; when the data plane does not build from it, rejects and changes nothing. */
  async reload(config: Config): Promise<void> {
    await this.#started.promise
    const checked = checkedOrigins(config)
    // Known before any pool of the new configuration gets a request.
    this.#plane?.takeChecks(this.#checker.resultsFor(checked))
    await this.#plane?.reload(config)
    this.#services?.reload(config)
    await this.#automatic?.prepare(config.acme)
    this.#automatic?.start()
    this.#checker.watch(checked)
    this.#certificates.watch(config.tls)
    this.#clientTrust.watch(config.zones)
    // Those that ended during the reload used the previous names.
    this.#plane?.takeChecks(this.#checker.results)
    this.#log.level = config.log.level
    this.#config = config
  }

  /** Becomes unready at once, finishes running requests within the grace of the configuration, then stops. */
  stop(): Promise<void> {
    return this.#life.stop()
  }

  /** Stops within moments; clients see that their responses are truncated. */
  async cut(): Promise<void> {
    this.#checker.stop()
    await this.#plane?.cut()
  }

  destroy(): void {
    this.#checker.stop()
    this.#certificates.close()
    this.#clientTrust.close()
    void this.#tickets?.close()
    this.#plane?.destroy()
  }

  get #api(): Api | null {
    if (this.#services === null || this.#management === null || this.#plane === null) return null
    const { store, tokens: verifier, tags, zones: records } = this.#services
    const { secrets, writes, refusals, grants, logSeries, attention } = this.#management
    const standings = () => this.#automatic?.standings ?? []
    const facts = { documentation: this.#documentation, records, plane: this.#plane, standings }
    const parts = { config: this.#config, ...facts }
    const issuer = issuerOf(this.#config, this.#admin)
    const guards = { verifier, tags, secrets, writes, refusals, issuer }
    const pages = pagesUrl(this.#config, this.#admin)
    const seen = { logSeries, attention, instance: this.#instance, zones: zoneFacts(parts) }
    return { store, ...guards, grants, pages, log: this.#log, ...seen }
  }

  get #instance(): Instance {
    const { workers } = this.#config
    const count = workers === 'auto' ? availableParallelism() : workers
    return { version, startedAt: this.#startedAt, workers: count, requests: this.#requests }
  }

  get #documentation(): string {
    return this.#config.errors.documentation ?? `${urlOf(this.#admin)}/errors`
  }

  #buildAutomatic(store: Store, { secrets }: Management): AutomaticCertificates {
    const publish = async (automatic: AutomaticTls) => this.#plane?.takeCertificates(automatic)
    return new AutomaticCertificates({
      ...{ store, secrets, log: this.#log, metrics: this.#metrics, publish },
      copyPath: copyPath(store, 'certificates.json'),
    })
  }

  #buildFaces(services: Services, management: Management): Faces | null {
    const sidePort = () => urlOf(this.#admin)
    const askAs: AdminServer['askAs'] = (...question) => this.#server.askAs(...question)
    const edge = () => ({ config: this.#config, endpoints: this.#edge })
    const parts = { config: this.#config, services, management, sidePort, edge, askAs, log: this.#log }
    return this.#openFaces?.(parts) ?? null
  }

  async #othersCounts(): Promise<readonly Snapshot[]> {
    return [...((await this.#plane?.snapshots()) ?? []), ...(await this.#countsBefore())]
  }

  /** Whether another gateway keeps the side port until this one serves. */
  get #isToSucceed(): boolean {
    return this.#before?.hasLeft === false
  }

  /** Returns how many OAuth grants there are; null while the store cannot say. */
  async #countGrants(): Promise<number | null> {
    const grants = this.#services?.store.oauthGrants.count()
    return (await grants?.catch(() => null)) ?? null
  }

  /** Reads the numbers of all processes, added up. */
  async #collect(): Promise<Snapshot> {
    this.#metrics.oauthGrants = await this.#countGrants()
    return this.#metrics.collect(await this.#plane?.snapshots())
  }

  get #storeSigns(): StoreSigns | null {
    return this.#services?.store ?? null
  }

  /** Binds the side port, which a stopping gateway releases at once. A gateway that is being replaced keeps it until this one serves. */
  async #listenOrTakeOver(endpoint: Endpoint): Promise<Endpoint> {
    const { admin = null, secret = null } = this.#inherited ?? {}
    if (secret !== null) this.#vouchBy(secret)
    if (admin !== null && admin.host === endpoint.host && admin.port === endpoint.port) {
      if (secret === null) return this.#server.listen(endpoint, admin.handle)
      this.#before = { hasLeft: false, secret }
      return admin.at
    }
    admin?.handle.close()
    try {
      return await this.#server.listen(endpoint)
    } catch (cause) {
      if (!isInUse(cause)) throw cause
      this.#before = await takeOver(endpoint, false)
      const mayGoOn = this.#before !== null && (this.#before.hasLeft || this.#replaces)
      if (!mayGoOn) throw this.#replaces ? noneToReplace(cause) : cause
      this.#vouchBy(this.#before!.secret)
      return this.#before!.hasLeft ? this.#server.listen(endpoint) : endpoint
    }
  }

  /** Accepts addresses that the edge of the previous gateway vouches for too, while it drains. */
  #vouchBy(secret: Buffer): void {
    this.#secret = secret
    this.#server.vouch = new Vouch(secret)
  }

  /** Takes the side port from the gateway that is being replaced, which stops by itself when it sees the note. */
  async #succeed(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        this.#admin = await this.#server.listen(this.#config.admin, this.#inherited?.admin?.handle)
        break
      } catch (cause) {
        if (!isInUse(cause) || tries > this.#patience.mostTries) throw cause
        await takeOver(this.#config.admin, true)
      }
    }
    await this.#note.leave(this.#admin, this.#secret)
    await this.#showPresence()
  }

  /** Without a note there is no handover; the gateway serves all the same. */
  async #leaveNote(): Promise<void> {
    const failed = (cause: unknown) =>
      this.#log.warn({ err: cause }, 'admin listener handover unavailable: its note could not be written')
    await this.#note.leave(this.#admin, this.#secret).catch(failed)
  }

  async #showPresence(): Promise<void> {
    const failed = (cause: unknown) =>
      this.#log.warn({ err: cause }, 'health --running unavailable: the address file could not be written')
    await this.#presence.show(this.#admin).catch(failed)
  }

  /** Releases the side port for the next gateway. */
  #handOver(authorization: string | null, replaces: boolean): boolean | null {
    if (!this.#note.proves(authorization)) return null
    const { phase } = this.#life
    if (phase === 'starting' || (phase === 'running' && !replaces)) return false
    this.#server.hush()
    clearInterval(this.#succession)
    if (phase === 'running')
      this.#succession = setInterval(
        () => void this.#lookForNext(),
        this.#patience.successionInterval,
      ).unref()
    this.#log.info('admin listener handed over')
    return true
  }

  /** Takes the side port back if it is free; if the next gateway has it and says so, this one must stop. */
  async #lookForNext(): Promise<void> {
    if (this.#life.phase !== 'running') return clearInterval(this.#succession)
    try {
      await this.#server.listen(this.#admin)
    } catch {
      if (await this.#note.isReplaced()) this.#replaced.resolve()
      return
    }
    clearInterval(this.#succession)
    await this.#leaveNote()
    this.#log.warn('admin listener taken back: the new gateway ended')
  }

  /** Has the edge seal TLS sessions with the keys of the store, where it speaks TLS. */
  async #shareTicketKeys(): Promise<void> {
    if (!this.#config.listen.some(({ tls }) => tls)) return
    this.#tickets = new TicketKeeper({
      store: this.#services!.store,
      secrets: this.#management!.secrets,
      log: this.#log,
      changed: keys => this.#plane!.takeTicketKeys(keys),
    })
    await this.#tickets.start()
  }

  #storePart(): Part {
    return {
      name: 'store',
      deadline: () => this.#patience.storeGrace,
      start: async () => {
        this.#services = await this.#openServices(this.#config, () => this.#admin)
        this.#management = await this.#openManagement(this.#config, this.#services.store)
        this.#automatic = this.#buildAutomatic(this.#services.store, this.#management)
        this.#faces = this.#buildFaces(this.#services, this.#management)
        this.#server.faces = this.#faces?.all ?? []
        this.#server.published = this.#faces?.published ?? []
        this.#server.front = this.#faces?.front ?? null
      },
      stop: async () => {
        await this.#faces?.close()
        await this.#automatic?.close()
        await this.#management?.close()
        await this.#services?.close()
      },
    }
  }

  #adminPart(): Part {
    return {
      name: 'admin listener',
      deadline: () => this.#patience.adminGrace,
      start: async () => {
        this.#admin = await this.#listenOrTakeOver(this.#config.admin)
        if (this.#isToSucceed) return
        await this.#leaveNote()
        await this.#showPresence()
      },
      stop: async () => {
        clearInterval(this.#succession)
        this.#presence.hide()
        await this.#note.remove()
        await this.#server.close()
      },
    }
  }

  #planePart(): Part {
    return {
      name: 'data plane',
      deadline: () => this.#config.shutdown.grace + this.#patience.drainSlack,
      start: async () => {
        // Where ports are shared, the kernel would not report a conflict; a gateway that is being replaced shares them until this one is up.
        const isAlone = !this.#replaces || this.#before === null
        const patience = this.#before === null ? 0 : this.#patience.edgePatience
        const sockets = socketsFor(this.#config, this.#inherited?.edge ?? [])
        const bound = new Set(sockets.map(({ listener }) => listener))
        const unbound = this.#config.listen.filter((_, listener) => !bound.has(listener))
        if (isAlone) for (const endpoint of unbound) await assertFree(endpoint, patience)
        const isPublished = this.#config.zones.some(({ routes }) =>
          routes.some(({ own }) => own !== undefined),
        )
        const issuer = isPublished ? await this.#server.listenForEdge() : null
        const sidePort = { endpoint: this.#admin, issuer, secret: this.#secret }
        const { tallies } = this.#management!
        const tallied = (counted: readonly Tally[]) => tallies.take(counted)
        const shared = { documentation: this.#documentation, sidePort, tallied }
        this.#plane = this.#buildPlane(this.#config, this.#services!, shared)
        await this.#shareTicketKeys()
        // Before the first handshake.
        await this.#automatic!.prepare(this.#config.acme)
        this.#edge = await this.#plane.listen(sockets)
        this.#automatic!.start()
        this.#requests.start()
        this.#metricExport = await openMetricExport(this.#config, this.#log, () => this.#collect())
        this.#checker.ownEndpoints = this.#edge
        this.#checker.watch(checkedOrigins(this.#config))
        if (this.#isToSucceed) await this.#succeed()
      },
      stop: async () => {
        this.#checker.stop()
        this.#certificates.close()
        this.#clientTrust.close()
        this.#requests.close()
        await this.#tickets?.close()
        await this.#plane?.drain(this.#config.shutdown.grace)
        await this.#metricExport?.close(lastExport)
      },
    }
  }
}
