// The data plane of one process: its listeners, connections and origins, and the configuration in effect.

import { createServer, type Server, type Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import { canonicalAddress } from '../base/address/address.ts'
import { clientKey } from '../base/address/client-key.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { EdgeMetrics } from '../metrics/edge-metrics.ts'
import type { AccessLog, Logger } from '../log/log.ts'
import { inSlices } from '../base/turns/slices.ts'
import { Vouch } from '../base/vouch.ts'
import type { Config, Endpoint } from '../config/config.ts'
import { Bans } from '../access/bans.ts'
import type { AccessParts, AccessSources } from '../access/policy.ts'
import { Limiter } from '../limits/limiter.ts'
import { ClientConnection } from './client/connection.ts'
import { type ConnectionFault, ConnectionLimits } from './client/connection-limits.ts'
import { highWaterMark } from './origin/dial.ts'
import { guarded } from './guarded.ts'
import type { NameLookup } from './resolver/name-lookup.ts'
import { Origins } from './origin/origins.ts'
import type { AiServices, Plane, SidePort } from './plane.ts'
import { checkKeys, type KeyedCheckResult } from './origin/health-checker.ts'
import { type PoolState, poolState } from './origin/pools.ts'
import { Seldom } from './seldom.ts'
import { buildSnapshot, type Snapshot } from './snapshot.ts'
import type { ZoneDirectory } from './zone-settings.ts'

/** Ms between two looks at the deadlines: what a timeout may be late by. */
const tickPeriod = 100
/** Ms of a turn of the loop in which hardly any connection can have come, and how many turns are waited for one. */
const shortTurn = 0.05
const mostTurns = 200
/** How many connections are looked at for one that is idle, before a client is refused. */
const mostLookedAt = 100

interface DataPlaneOptions {
  /** Base of the `type` URIs, without a slash at the end. */
  readonly documentation: string
  readonly metrics: EdgeMetrics
  readonly accessLog: AccessLog | null
  readonly log: Logger
  readonly ai?: AiServices
  readonly sidePort?: SidePort
  /** Address lists and geography; none where no rule names any. */
  readonly access?: AccessSources
  /** What the API has set for zones; nothing where there is none. */
  readonly zones?: ZoneDirectory
  /** Counts for this process alone where there is none. */
  readonly limiter?: Limiter
  /** Counts for this process alone where there are none. */
  readonly bans?: Bans
  readonly clock?: Clock
  /** How the names of origins are looked up; by the system where there is none. */
  readonly lookup?: NameLookup
}

export class DataPlane implements Plane {
  readonly clock: Clock
  readonly metrics: EdgeMetrics
  readonly accessLog: AccessLog | null
  readonly log: Logger
  readonly ai: AiServices | null
  readonly sidePort: Plane['sidePort']
  readonly documentation: string
  readonly geo: Plane['geo']
  readonly limiter: Limiter
  snapshot: Snapshot
  coarseNow: number
  isDraining = false
  isGoingAway = false
  gathered = 0
  readonly #access: AccessParts
  readonly #bans: Bans
  readonly #zones: ZoneDirectory | null
  #config: Config
  readonly #origins: Origins
  readonly #connections = new Set<ClientConnection>()
  /** The last result of each check, for pools that a reload makes. */
  readonly #checks = new Map<string, KeyedCheckResult>()
  readonly #listen: readonly Endpoint[]
  readonly #ticker: NodeJS.Timeout
  readonly #limits = new ConnectionLimits()
  /** What was told in the log, by what it is about. */
  readonly #told = new Map<string, Seldom>()
  #servers: Server[] = []
  #drained: (() => void) | null = null
  #dateSecond = 0
  #date = ''

  /** Throws when the configuration does not build. */
  constructor(config: Config, { clock = systemClock, ...options }: DataPlaneOptions) {
    this.clock = clock
    this.metrics = options.metrics
    this.accessLog = options.accessLog
    this.log = options.log
    this.ai = options.ai ?? null
    const { sidePort } = options
    this.sidePort = sidePort ? { endpoint: sidePort.endpoint, vouch: new Vouch(sidePort.secret) } : null
    this.documentation = options.documentation
    const bans = options.bans ?? new Bans(clock)
    this.#bans = bans
    this.#access = { ...(options.access ?? nothingKnown), bans, metrics: this.metrics }
    this.metrics.access.activeBans = () => bans.active
    this.#zones = options.zones ?? null
    this.#config = config
    this.geo = this.#access.geo
    this.limiter = options.limiter ?? new Limiter({ clock })
    this.coarseNow = clock.monotonic()
    this.#listen = config.listen
    const mayDial = (dials: number) => this.#limits.mayDial(this.metrics.originConnections.value + dials)
    this.#origins = new Origins({ clock, metrics: this.metrics, log: this.log, mayDial }, options.lookup)
    this.snapshot = this.#build(config)
    bans.keep(config)
    this.#tellOfBroken()
    this.metrics.poolMembers = () => this.snapshot.pools.health()
    const tick = guarded(
      () => this.#tick(),
      bug => this.#crashed(bug),
    )
    this.#ticker = setInterval(tick, tickPeriod).unref()
  }

  /** Binds every endpoint of the configuration and gives them with their real ports; binds none when one can't be bound. */
  async listen({ reusePort }: { reusePort: boolean }): Promise<readonly Endpoint[]> {
    const bound: Endpoint[] = []
    try {
      for (const endpoint of this.#listen) bound.push(await this.#bind(endpoint, reusePort))
    } catch (error) {
      for (const server of this.#servers) server.close()
      throw error
    }
    this.#origins.ownEndpoints = bound
    this.#limits.measure()
    return bound
  }

  /** Puts another configuration in effect; throws and changes nothing when it does not build, or takes from a zone what a rule of the API names. */
  reload(config: Config): void {
    const snapshot = this.#build(config)
    for (const [zone, flaw] of snapshot.broken)
      if (!this.snapshot.broken.has(zone))
        throw new Error(`zone ${zone} conflicts with its API-managed rules: ${flaw}`)
    this.#install(snapshot, config)
  }

  /** Recompiles the rules of zones after the API has changed some. */
  refresh(): void {
    this.#install(this.#build(this.#config), this.#config)
  }

  #install(snapshot: Snapshot, config: Config): void {
    const wanted = checkKeys(config)
    for (const key of this.#checks.keys()) if (!wanted.has(key)) this.#checks.delete(key)
    snapshot.pools.takeChecks([...this.#checks.values()])
    this.snapshot = snapshot
    this.#config = config
    this.#bans.keep(config)
    this.#origins.keep(this.snapshot.origins)
    this.#tellOfBroken()
  }

  #tellOfBroken(): void {
    for (const [zone, reason] of this.snapshot.broken)
      this.log.error({ zone, reason }, 'zone disabled: its API-managed rules failed to compile')
  }

  /** How the pools are doing. */
  get pools(): readonly PoolState[] {
    return this.snapshot.pools.named.map(poolState)
  }

  /** Takes what active checks found of origins. */
  takeChecks(results: readonly KeyedCheckResult[]): void {
    for (const result of results) this.#checks.set(result.key, result)
    this.snapshot.pools.takeChecks(results)
  }

  /** Stops accepting, lets what runs finish, and cuts what is left after `grace` ms. */
  async drain(grace: number): Promise<void> {
    await this.#acceptWaiting()
    for (const server of this.#servers) server.close()
    // Only now: whoever is told that its connection closes comes back at once, and must not meet a listener that is about to close.
    this.isDraining = true
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#drained = resolve
    for (const connection of this.#connections) connection.drain()
    const farewell = this.#farewellIn(grace)
    const timer = setTimeout(resolve, grace)
    if (this.#connections.size === 0) resolve()
    await promise
    clearTimeout(farewell)
    clearTimeout(timer)
    this.destroy()
  }

  /** Has WebSockets closed some time before the end of the grace, at the earliest when half of it is over. */
  #farewellIn(grace: number): NodeJS.Timeout | undefined {
    const before = Math.min(this.#config.shutdown.webSocketClose, grace / 2)
    if (before === 0) return undefined
    return setTimeout(() => {
      this.isGoingAway = true
      void inSlices(this.#farewells())
    }, grace - before)
  }

  *#farewells(): Generator<void> {
    for (const connection of this.#connections) {
      connection.goAway()
      yield
    }
  }

  /** Accepts the connections that wait, which the system resets with the listener, and returns in a turn short enough for hardly any other to have come. */
  async #acceptWaiting(): Promise<void> {
    for (let turn = 0; turn < mostTurns; turn++) {
      const begun = performance.now()
      await immediate()
      if (turn > 0 && performance.now() - begun < shortTurn) return
    }
  }

  /** Cuts everything at once. */
  destroy(): void {
    clearInterval(this.#ticker)
    for (const server of this.#servers) server.close()
    for (const connection of this.#connections) connection.destroy()
    this.#origins.destroy()
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

  #build(config: Config): Snapshot {
    return buildSnapshot(config, {
      origins: this.#origins,
      metrics: this.metrics,
      access: this.#access,
      zones: this.#zones,
      clock: this.clock,
      before: this.snapshot ?? null,
    })
  }

  #bind(endpoint: Endpoint, reusePort: boolean): Promise<Endpoint> {
    // A client that has sent its last request may close its half and still wait for the response.
    const options = { allowHalfOpen: true, noDelay: true, highWaterMark: highWaterMark }
    const server = createServer(options, socket => this.#accept(socket))
    this.#servers.push(server)
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.on('error', error => this.#tellSeldom('accept', { err: error }, 'accepting a client failed'))
      server.listen({ ...endpoint, reusePort, backlog: 4096 }, () => {
        const { port } = server.address() as { port: number }
        resolve({ host: endpoint.host, port })
      })
    })
  }

  #accept(socket: Socket): void {
    try {
      const peer = canonicalAddress(socket.remoteAddress ?? '') ?? ''
      let fault = this.#take(peer)
      // Who has been served makes room for who has not.
      if (fault !== null && this.#closeIdle(fault, peer)) fault = this.#take(peer)
      if (fault !== null) return this.#turnAway(socket, fault)
      const connection = this.#connect(socket, peer)
      this.metrics.clientConnections.inc()
      this.#connections.add(connection)
    } catch (bug) {
      socket.destroy()
      this.#crashed(bug)
    }
  }

  #take(peer: string): ConnectionFault | null {
    const { client, trusted } = this.snapshot
    return this.#limits.take(peer, trusted.has(peer), this.metrics.originConnections.value, client)
  }

  /** Closes an idle connection that makes room for one from `peer`, one of the oldest; false where none was found soon. */
  #closeIdle(fault: ConnectionFault, peer: string): boolean {
    const key = fault === 'connections_per_address' ? clientKey(peer) : null
    let left = Math.min(this.#connections.size, mostLookedAt)
    for (const connection of this.#connections) {
      if (left-- === 0) return false
      if (connection.isIdle && (key === null || clientKey(connection.peer) === key)) {
        connection.destroy()
        this.#gone(connection)
        return true
      }
      // The next look begins behind those who are busy.
      this.#connections.delete(connection)
      this.#connections.add(connection)
    }
    return false
  }

  #connect(socket: Socket, peer: string): ClientConnection {
    try {
      return new ClientConnection(socket, this, gone => this.#gone(gone))
    } catch (bug) {
      this.#limits.leave(peer)
      throw bug
    }
  }

  /** Closes a connection that meets a limit, with a reset, which leaves nothing behind in the system. */
  #turnAway(socket: Socket, limit: ConnectionFault): void {
    socket.on('error', () => {})
    socket.resetAndDestroy()
    this.metrics.refusedConnections[limit].inc()
    this.#tellSeldom(limit, { limit }, 'client connections refused')
  }

  /** Counts and logs that there was no file descriptor for a connection to an origin. */
  noteShortage(failure: { readonly code?: string }): void {
    this.metrics.dialShortages.inc()
    this.#tellSeldom('dial', { err: failure }, 'origin connections failed: no file descriptors left')
  }

  /** Warns of something once a minute; `count` is how often it happened since. */
  #tellSeldom(what: string, facts: object, message: string): void {
    let seldom = this.#told.get(what)
    if (seldom === undefined) this.#told.set(what, (seldom = new Seldom()))
    const count = seldom.take(this.clock.monotonic())
    if (count > 0) this.log.warn({ ...facts, count }, message)
  }

  #gone(connection: ClientConnection): void {
    if (!this.#connections.delete(connection)) return
    this.metrics.clientConnections.dec()
    this.#limits.leave(connection.peer)
    if (this.#connections.size === 0) this.#drained?.()
  }

  #tick(): void {
    this.coarseNow = this.clock.monotonic()
    for (const connection of this.#connections) connection.sweep(this.coarseNow)
    this.#origins.sweep(this.coarseNow)
  }

  #crashed(bug: unknown): void {
    this.log.error({ err: bug }, 'background task failed: internal error')
  }
}

const nothingKnown: AccessSources = {
  lists: {
    get: name => {
      throw new Error(`list ${name} is not loaded`)
    },
  },
  geo: null,
}
