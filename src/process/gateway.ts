// One running gateway: the store, the admin listener and the data plane behind it, from the first socket to the last.

import { randomBytes } from 'node:crypto'
import { systemClock } from '../base/clock.ts'
import { Lifecycle, type Part } from '../base/lifecycle.ts'
import type { Logger } from '../base/log.ts'
import type { Metrics, StoreSigns } from '../base/metrics.ts'
import { Vouch } from '../base/vouch.ts'
import type { Config, Endpoint } from '../config/config.ts'
import type { Store } from '../store/store.ts'
import type { Api } from '../admin/guard.ts'
import type { Unready } from '../admin/health.ts'
import type { Facts } from '../admin/routes.ts'
import { AdminServer } from '../admin/server.ts'
import { checkedOrigins, HealthChecker } from '../edge/health-checker.ts'
import type { SidePort } from '../edge/plane.ts'
import { HandoverNote, takeOver } from './handover.ts'
import { assertFree, listenFailure } from './listen-failure.ts'
import type { ManagedPlane } from './managed-plane.ts'
import type { Management } from './management.ts'
import { Presence } from './presence.ts'
import type { Services } from './services.ts'
import { urlOf } from './url.ts'
import { zoneFacts } from './zone-facts.ts'

/** How much longer than the grace the data plane may take to stop. */
const drainSlack = 5_000
/** How long the admin listener may take to answer what it is asked when it stops. */
const adminGrace = 2_000
/** How long what waits to be written may take. */
const storeGrace = 5_000
/** How often a side port that was handed over is tried again, in ms, should the gateway that took it not come up. */
const reclaimInterval = 500

interface GatewayParts {
  readonly log: Logger
  readonly metrics: Metrics
  /** Whether it takes the place of the gateway that runs here. */
  readonly replaces?: boolean
  readonly openServices: (config: Config) => Promise<Services>
  readonly openManagement: (config: Config, store: Store) => Promise<Management>
  /** Builds the data plane, once it is known where the side port is. */
  readonly buildPlane: (config: Config, services: Services, shared: Shared) => ManagedPlane
}

/** What every process of the data plane gets. */
interface Shared {
  /** Where errors are documented. */
  readonly documentation: string
  readonly sidePort: SidePort
}

export class Gateway {
  readonly #log: Logger
  readonly #openServices: GatewayParts['openServices']
  readonly #openManagement: GatewayParts['openManagement']
  readonly #buildPlane: GatewayParts['buildPlane']
  /** With which the data plane vouches to the side port for its clients, for as long as this gateway runs. */
  readonly #secret = randomBytes(32)
  readonly #server: AdminServer
  readonly #replaces: boolean
  readonly #note = new HandoverNote()
  readonly #presence = new Presence()
  #reclaim: NodeJS.Timeout | undefined
  /** The process that has handed its side port over. */
  #before: number | null = null
  readonly #checker: HealthChecker
  readonly #life: Lifecycle
  readonly #started = Promise.withResolvers<void>()
  #config: Config
  #services: Services | null = null
  #management: Management | null = null
  #plane: ManagedPlane | null = null
  #edge: readonly Endpoint[] = []
  #admin: Endpoint

  constructor(
    config: Config,
    { log, metrics, replaces = false, openServices, openManagement, buildPlane }: GatewayParts,
  ) {
    this.#config = config
    this.#admin = config.admin
    this.#log = log
    this.#replaces = replaces
    this.#openServices = openServices
    this.#openManagement = openManagement
    metrics.storeSigns = () => this.#storeSigns
    this.#buildPlane = buildPlane
    this.#checker = new HealthChecker({
      clock: systemClock,
      log,
      metrics: metrics.edge,
      told: results => this.#plane?.takeChecks(results),
    })
    const facts: Facts = {
      unready: () => this.unready,
      storeSigns: () => this.#storeSigns,
      api: () => this.#api,
      metrics: async () => metrics.expose(await this.#plane?.snapshots()),
      handOver: (authorization, replaces) => this.#handOver(authorization, replaces),
    }
    const failed = (cause: unknown) => log.error({ err: cause }, 'a bug in the admin listener')
    this.#server = new AdminServer(facts, failed, new Vouch(this.#secret))
    this.#life = new Lifecycle([this.#storePart(), this.#adminPart(), this.#planePart()], (part, cause) =>
      log.error({ part, err: cause }, 'did not stop as it should'),
    )
  }

  /** The configuration in force. */
  get config(): Config {
    return this.#config
  }

  /** Where clients are served, with real ports, once `start` is done. */
  get edge(): readonly Endpoint[] {
    return this.#edge
  }

  get admin(): Endpoint {
    return this.#admin
  }

  /** The store, once `start` is done. */
  get store(): Store {
    return this.#services!.store
  }

  get unready(): Unready {
    if (this.#life.phase === 'starting') return 'starting'
    if (this.#life.phase !== 'running') return 'draining'
    return this.#plane?.isUp ? null : 'no worker is up'
  }

  /** Rejects with a sentence when an address cannot be had. */
  async start(): Promise<void> {
    try {
      await this.#life.start()
    } catch (cause) {
      this.destroy()
      throw listenFailure(cause)
    }
    this.#started.resolve()
    if (this.#life.phase !== 'running') return
    this.#log.info({ edge: this.#edge, admin: this.#admin }, 'ready')
    if (this.#replaces && this.#before !== null) this.#endBefore(this.#before)
  }

  /** Swaps the configuration, once it is started; rejects and changes nothing when the data plane does not build from it. */
  async reload(config: Config): Promise<void> {
    await this.#started.promise
    const checked = checkedOrigins(config)
    // Known before any pool of the new configuration gets a request.
    this.#plane?.takeChecks(this.#checker.resultsFor(checked))
    await this.#plane?.reload(config)
    this.#services?.reload(config)
    this.#checker.watch(checked)
    // Those that ended while it was reloaded went by the names of before.
    this.#plane?.takeChecks(this.#checker.results)
    this.#log.level = config.log.level
    this.#config = config
  }

  /** Is unready at once, finishes what runs within the grace of the configuration, then goes. */
  stop(): Promise<void> {
    return this.#life.stop()
  }

  /** Ends within moments; clients see that their responses are cut. */
  async cut(): Promise<void> {
    this.#checker.stop()
    await this.#plane?.cut()
  }

  destroy(): void {
    this.#checker.stop()
    this.#plane?.destroy()
  }

  get #api(): Api | null {
    if (this.#services === null || this.#management === null || this.#plane === null) return null
    const { store, tokens: verifier, zones: records } = this.#services
    const { secrets, writes, refusals } = this.#management
    const parts = { config: this.#config, documentation: this.#documentation, records, plane: this.#plane }
    return { store, verifier, secrets, writes, refusals, log: this.#log, zones: zoneFacts(parts) }
  }

  get #documentation(): string {
    return this.#config.errors.documentation ?? `${urlOf(this.#admin)}/errors`
  }

  get #storeSigns(): StoreSigns | null {
    return this.#services?.store ?? null
  }

  async #listenOrTakeOver(endpoint: Endpoint): Promise<Endpoint> {
    try {
      return await this.#server.listen(endpoint)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
      this.#before = await takeOver(endpoint, this.#replaces)
      if (this.#before === null) throw cause
      return this.#server.listen(endpoint)
    }
  }

  /** Without a note there is no handover; the gateway serves all the same. */
  async #leaveNote(): Promise<void> {
    const failed = (cause: unknown) => this.#log.warn({ err: cause }, 'the side port cannot be handed over')
    await this.#note.leave(this.#admin.port).catch(failed)
  }

  /** Stops listening on the side port in favour of the next gateway, and takes it back where that does not come up. */
  #handOver(authorization: string | null, replaces: boolean): number | null | undefined {
    if (!this.#note.proves(authorization)) return undefined
    const { phase } = this.#life
    if (phase === 'starting' || (phase === 'running' && !replaces)) return null
    this.#server.hush()
    clearInterval(this.#reclaim)
    if (phase === 'running') this.#reclaim = setInterval(() => void this.#takeBack(), reclaimInterval).unref()
    this.#log.info('side port handed over')
    return process.pid
  }

  async #takeBack(): Promise<void> {
    if (this.#life.phase !== 'running') return clearInterval(this.#reclaim)
    try {
      await this.#server.listen(this.#admin)
    } catch {
      return
    }
    clearInterval(this.#reclaim)
    await this.#leaveNote()
    this.#log.warn('side port taken back: the gateway that took it is gone')
  }

  #endBefore(pid: number): void {
    // Where it runs in a container of its own, its id means nothing here.
    if (pid === process.pid) return this.#log.warn('the gateway before was not told to stop')
    try {
      process.kill(pid, 'SIGTERM')
    } catch (cause) {
      this.#log.warn({ pid, err: cause }, 'the gateway before was not told to stop')
    }
  }

  #storePart(): Part {
    return {
      name: 'store',
      deadline: () => storeGrace,
      start: async () => {
        this.#services = await this.#openServices(this.#config)
        this.#management = await this.#openManagement(this.#config, this.#services.store)
      },
      stop: async () => {
        await this.#management?.close()
        await this.#services?.close()
      },
    }
  }

  #adminPart(): Part {
    return {
      name: 'admin listener',
      deadline: () => adminGrace,
      start: async () => {
        this.#admin = await this.#listenOrTakeOver(this.#config.admin)
        await this.#leaveNote()
        const failed = (cause: unknown) =>
          this.#log.warn({ err: cause }, 'health --running cannot find this gateway')
        await this.#presence.show(this.#admin).catch(failed)
      },
      stop: async () => {
        clearInterval(this.#reclaim)
        this.#presence.hide()
        await this.#note.remove()
        await this.#server.close()
      },
    }
  }

  #planePart(): Part {
    return {
      name: 'data plane',
      deadline: () => this.#config.shutdown.grace + drainSlack,
      start: async () => {
        // Where ports are shared, the kernel would not say so; a gateway that is replaced shares them until this one is up.
        const isAlone = !this.#replaces || this.#before === null
        if (isAlone) for (const endpoint of this.#config.listen) await assertFree(endpoint)
        const sidePort = { endpoint: this.#admin, secret: this.#secret }
        const shared = { documentation: this.#documentation, sidePort }
        this.#plane = this.#buildPlane(this.#config, this.#services!, shared)
        this.#edge = await this.#plane.listen()
        this.#checker.ownEndpoints = this.#edge
        this.#checker.watch(checkedOrigins(this.#config))
      },
      stop: () => {
        this.#checker.stop()
        return this.#plane?.drain(this.#config.shutdown.grace)
      },
    }
  }
}
