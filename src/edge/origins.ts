// Every origin of the configuration with its connections: who gets an idle one, when a new one is opened, and who waits. Called by `forward-http.ts` for
// connections and by `snapshot.ts` for the origins themselves.
import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import type { EdgeMetrics } from '../base/metrics.ts'
import type { OriginConfig, Timeouts } from '../config/schema.ts'
import { Dial, type Dialer, type DialPhase } from './dial.ts'
import { type ConnectionOwner, type Failure, OriginConnection } from './origin-connection.ts'

/** How long an idle connection is kept when the origin does not say; servers commonly close theirs after 5 s. */
const DEFAULT_IDLE = 4_000
const LONGEST_IDLE = 60_000
/** Ms by which we close before the origin said it would, so that no request meets its closing. */
const IDLE_MARGIN = 1_000

/** Who wants a connection. */
export interface Waiter {
  readonly timeouts: Timeouts
  connected(connection: OriginConnection): void
  /** `times` are those of the attempt that failed, whose phase was the last. */
  unconnected(phase: DialPhase, failure: Failure, times: Dial['times']): void
  /** A bug of ours was met while the waiter was told. */
  crashed(bug: unknown): void
}

/** One origin: an address, its idle connections, and those who wait for one. */
export class Origin implements Dialer, ConnectionOwner {
  readonly config: OriginConfig
  /** The Host value for this origin: its default port is left out (RFC 9110 section 7.2). */
  readonly authority: string
  session: Buffer | null = null
  readonly #clock: Clock
  readonly #metrics: EdgeMetrics
  /** The latest returned is the first taken: the rest may grow cold and close. */
  readonly #idle: OriginConnection[] = []
  readonly #open = new Set<OriginConnection>()
  readonly #dials = new Set<Dial>()
  readonly #waiting = new Set<Waiter>()
  /** Whether the last attempt to connect failed: then one attempt at a time speaks for all who wait, so that a dead origin costs little. */
  #isDown = false
  /** Where it waits to be unused, once no configuration names it any more. */
  #retired: Set<Origin> | null = null

  constructor(config: OriginConfig, clock: Clock, metrics: EdgeMetrics) {
    this.config = config
    this.authority = new URL(config.url).host
    this.#clock = clock
    this.#metrics = metrics
  }

  /** Hands the waiter a connection, at once when one is idle; else it waits in turn. */
  acquire(waiter: Waiter, options: { fresh: boolean }): void {
    // A request that began before a reload may come to it late.
    this.#retired?.add(this)
    const idle = options.fresh ? undefined : this.#idle.pop()
    if (idle !== undefined) return waiter.connected(idle)
    this.#waiting.add(waiter)
    this.#dialMore()
  }

  /** Takes back who no longer waits. */
  forget(waiter: Waiter): void {
    this.#waiting.delete(waiter)
  }

  /** Takes a connection back whose exchange ended well. */
  putBack(connection: OriginConnection): void {
    if (!connection.release()) return connection.destroy()
    this.#offer(connection)
  }

  /** Closes what is idle now and everything else as it comes back: no configuration names this origin any more. */
  retire(retired: Set<Origin>): void {
    this.#retired = retired.add(this)
    for (const connection of this.#idle.splice(0)) connection.destroy()
  }

  /** Cuts every connection. */
  destroy(): void {
    this.#retired ??= new Set()
    for (const dial of this.#dials) dial.abort()
    for (const connection of this.#open) connection.destroy()
  }

  /** Ends what has passed its deadline: dials, and connections that were idle long enough. */
  sweep(now: number): void {
    for (const dial of this.#dials) if (now >= dial.deadline) dial.expire()
    for (const connection of this.#open) if (now >= connection.deadline) connection.destroy()
  }

  get isUnused(): boolean {
    return this.#open.size === 0 && this.#dials.size === 0
  }

  dialed(dial: Dial, socket: Socket): void {
    const connection = new OriginConnection(this, socket, dial.times)
    this.#dials.delete(dial)
    this.#open.add(connection)
    this.#metrics.originConnections.inc()
    this.#isDown = false
    this.#offer(connection)
    this.#dialMore()
  }

  dialFailed(dial: Dial, phase: DialPhase, failure: Failure): void {
    this.#dials.delete(dial)
    // A timeout has only cost the oldest its whole time; the others have their own deadlines.
    const isTimeout = failure.code === 'GH_CONNECT_TIMEOUT' || failure.code === 'GH_HANDSHAKE_TIMEOUT'
    const unlucky = this.#isDown && !isTimeout ? [...this.#waiting] : firstOf(this.#waiting)
    this.#isDown = true
    for (const waiter of unlucky) this.#waiting.delete(waiter)
    for (const waiter of unlucky) tell(waiter, () => waiter.unconnected(phase, failure, dial.times))
    this.#dialMore()
  }

  closed(connection: OriginConnection): void {
    if (this.#open.delete(connection)) this.#metrics.originConnections.dec()
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  #offer(connection: OriginConnection): void {
    for (const waiter of this.#waiting) {
      this.#waiting.delete(waiter)
      return tell(waiter, () => waiter.connected(connection))
    }
    const granted = connection.grantedIdle === -1 ? DEFAULT_IDLE : connection.grantedIdle - IDLE_MARGIN
    if (granted <= 0 || this.#retired !== null) return connection.destroy()
    connection.deadline = this.#clock.monotonic() + Math.min(granted, LONGEST_IDLE)
    connection.isReused = true
    this.#idle.push(connection)
  }

  #dialMore(): void {
    const wanted = this.#isDown ? Math.min(1, this.#waiting.size) : this.#waiting.size
    const [waiter] = this.#waiting
    while (this.#dials.size < wanted) this.#dials.add(new Dial(this, waiter!.timeouts, this.#clock))
  }
}

/** The origins in use, one object for each distinct configuration, so that a reload keeps the connections of those it does not change. */
export class Origins {
  readonly #clock: Clock
  readonly #metrics: EdgeMetrics
  readonly #byConfig = new Map<string, Origin>()
  /** No longer configured, but not yet without connections. */
  readonly #retired = new Set<Origin>()

  constructor(clock: Clock, metrics: EdgeMetrics) {
    this.#clock = clock
    this.#metrics = metrics
  }

  /** Gives the origin of this configuration, a new one when there is none yet. */
  get(config: OriginConfig): Origin {
    const key = JSON.stringify(config)
    let origin = this.#byConfig.get(key)
    if (origin === undefined) {
      origin = new Origin(config, this.#clock, this.#metrics)
      this.#byConfig.set(key, origin)
    }
    return origin
  }

  /** Retires every origin that is not among those in use. */
  keep(inUse: ReadonlySet<Origin>): void {
    for (const [key, origin] of this.#byConfig) {
      if (inUse.has(origin)) continue
      this.#byConfig.delete(key)
      origin.retire(this.#retired)
    }
  }

  sweep(now: number): void {
    for (const origin of this.#byConfig.values()) origin.sweep(now)
    for (const origin of this.#retired) {
      origin.sweep(now)
      if (origin.isUnused) this.#retired.delete(origin)
    }
  }

  destroy(): void {
    for (const origin of this.#byConfig.values()) origin.destroy()
    for (const origin of this.#retired) origin.destroy()
  }
}

/** Tells a waiter its news; a bug that it meets is its own, and no affair of whoever brought them. */
function tell(waiter: Waiter, news: () => void): void {
  try {
    news()
  } catch (bug) {
    waiter.crashed(bug)
  }
}

function firstOf<T>(values: Iterable<T>): T[] {
  for (const value of values) return [value]
  return []
}
