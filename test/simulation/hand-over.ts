// Gateways that replace one another while clients connect: no connection is turned away unless its process is killed, each
// is served by the configuration of a gateway, one gateway is left, and what is lent is never taken for newer than it is.

import childProcess, { type ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import type { Logger } from '../../src/log/log.ts'
import type { Metrics } from '../../src/metrics/metrics.ts'
import {
  type FromBefore,
  type FromNext,
  type Inheritance,
  Predecessor,
  socketsFor,
} from '../../src/process/handover/inheritance.ts'
import { Upgrade } from '../../src/process/handover/upgrade.ts'
import { usualSupervision } from '../../src/process/workers/supervision.ts'
import { Supervisor } from '../../src/process/workers/supervisor.ts'
import type { LentRecord } from '../../src/store/cache/cache-handover.ts'
import type { Handle } from './kernel.ts'
import { Kernel } from './kernel.ts'
import { SimulatedWorker, type Version } from './worker.ts'
import { type Outcome, type Process, World } from './world.ts'

/** Hangs end by the timeout of reloads. */
const supervision = { ...usualSupervision, heartbeat: 3_600_000 }
const log = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Logger
const counter = { inc: () => {} }
const metrics = { workerRestarts: counter } as unknown as Metrics
const upgrades = { success: counter, failure: counter } as unknown as Metrics['upgrades']
const sidePort = { endpoint: { host: '127.0.0.1', port: 1 }, issuer: null, secret: new Uint8Array(32) }
const endpoint = { host: '127.0.0.1', port: 8080 }
/** Ms for which requests may go on when a gateway is replaced, and after which a connection must be accepted. */
const grace = 10_000
const patience = 45_000

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const world = new World(seed, traces)
  const schedule = new Schedule(world)
  const { fork } = childProcess
  const { bigint } = process.hrtime
  const exits = process.listeners('exit')
  Object.assign(childProcess, { fork: () => schedule.fork() })
  syncBuiltinESMExports()
  Object.assign(process.hrtime, { bigint: () => BigInt(Math.round(world.time * 1e6)) })
  try {
    await world.live(() => schedule.run())
  } finally {
    Object.assign(childProcess, { fork })
    syncBuiltinESMExports()
    Object.assign(process.hrtime, { bigint })
    // Those of supervisors that were killed.
    for (const listener of process.listeners('exit'))
      if (!exits.includes(listener)) process.off('exit', listener)
  }
  return world
}

class Schedule {
  readonly world: World
  readonly kernel: Kernel
  readonly gateways: Gateway[] = []
  readonly workers: SimulatedWorker[] = []
  readonly count: number
  readonly may: Readonly<Record<'crash' | 'hang' | 'kill' | 'fail', boolean>>
  /** When a main process was killed, which takes along what it has not passed on, in ms of the world. */
  killedAt = Number.NEGATIVE_INFINITY
  #versions = 0

  constructor(world: World) {
    this.world = world
    this.kernel = new Kernel(world)
    this.count = 1 + world.below(3)
    this.may = {
      ...{ crash: world.maybe(0.6), hang: world.maybe(0.3), kill: world.maybe(0.3) },
      fail: world.maybe(),
    }
    world.network.maxDelay = [0, 10, 200][world.below(3)]!
    this.kernel.refused = why => {
      world.note(why)
      if (world.time - this.killedAt > patience) world.fault(why)
    }
  }

  async run(): Promise<void> {
    const { world } = this
    this.begin(null)
    await world.pass(5_000)
    const length = 20 + world.below(40)
    for (let i = 0; i < length && world.faults.length === 0; i++) {
      await this.#step()
      const ms = world.maybe(0.1) ? world.below(30_000) : world.below(1_000)
      const clients = 1 + world.below(5)
      for (let client = 0; client < clients; client++) {
        this.#connect()
        await world.pass(ms / clients)
      }
      this.#check()
    }
    if (world.faults.length === 0) await this.#end()
    for (const { process } of this.gateways) this.#kill(process)
    for (const worker of this.workers) worker.die()
  }

  version(refusedBy: number): Version {
    const parts = { listen: [endpoint], log: { numeric: false }, access: { ban: null }, zones: [] }
    return { ...parts, version: this.#versions++, refusedBy } as unknown as Version
  }

  /** Starts a gateway, which may be the next one of another. */
  begin(channel: Channel | null): void {
    const process = channel?.next ?? this.world.process(`g${this.gateways.length}`)
    const gateway = new Gateway(this, process, channel)
    this.gateways.push(gateway)
    this.world.later(process, 0, () => void gateway.start())
  }

  /** What a supervisor gets as a process. */
  fork(): ChildProcess {
    const { world, kernel } = this
    const [main, process] = [world.current, world.process(`w${this.workers.length}`)]
    const worker = new SimulatedWorker(world, { main, process, mayHang: this.may.hang, kernel })
    this.workers.push(worker)
    return worker.child
  }

  /** The main process ends without a word: its workers finish what they have. */
  #kill(main: Process): void {
    if (!main.isAlive) return
    this.killedAt = this.world.time
    this.end(main)
  }

  end(main: Process): void {
    const { world } = this
    world.kill(main)
    this.kernel.bury(main)
    for (const { channel } of this.gateways) channel?.notice(main)
    for (const worker of this.workers)
      if (worker.main === main && worker.isAlive)
        world.later(worker.process, world.below(20), () => void worker.leave())
  }

  get #alive(): readonly Gateway[] {
    return this.gateways.filter(({ process }) => process.isAlive)
  }

  async #step(): Promise<void> {
    const { world, may } = this
    const gateway = world.pick(this.#alive)
    // As a service manager does.
    if (gateway === null) return this.begin(null)
    const dice = world.below(100)
    if (dice < 30) await world.run(gateway.process, () => void gateway.upgrade.begin())
    else if (dice < 50) await world.run(gateway.process, () => void gateway.reload())
    else if (dice < 65 && may.crash) world.pick(this.workers.filter(({ isAlive }) => isAlive))?.die()
    else if (dice < 72 && may.kill && this.#alive.length > 1) this.#kill(gateway.process)
  }

  #connect(): void {
    if (this.#alive.some(({ isReady }) => isReady)) this.kernel.connect()
  }

  #check(): void {
    const { world } = this
    for (const { state, cameAt } of this.kernel.connections)
      if (state === 'waiting' && world.time - cameAt > patience)
        world.fault(`a connection waits for ${world.time - cameAt} ms`)
    for (const { process, serves, main, isAlive } of this.workers) {
      const gateway = this.gateways.find(one => one.process === main)!
      if (!isAlive || serves === null || !main.isAlive) continue
      if (serves !== gateway.current.version && serves !== gateway.next?.version)
        world.fault(`${process.name} serves ${serves}, but ${gateway.current.version} is in effect`)
    }
  }

  /** Nothing more happens: one gateway is left, with all its workers, and every connection was served. */
  async #end(): Promise<void> {
    const { world } = this
    await world.pass(150_000)
    if (this.#alive.length === 0) this.begin(null)
    await world.pass(20_000)
    this.#connect()
    await world.pass(10_000)
    this.#check()
    const alive = this.#alive
    if (alive.length !== 1) return world.fault(`${alive.length} gateways are left`)
    const serving = this.workers.filter(({ isAlive, serves }) => isAlive && serves !== null)
    if (serving.length !== this.count || serving.some(({ main }) => main !== alive[0]!.process))
      world.fault(`${serving.length} of ${this.count} workers serve`)
    if (this.kernel.connections.at(-1)!.state !== 'done') world.fault('at last, a connection is not served')
  }
}

/** A gateway as `run.ts` puts it together, without its side port. */
class Gateway {
  readonly process: Process
  readonly channel: Channel | null
  readonly upgrade: Upgrade
  readonly before: Predecessor | null
  /** What is in effect, and what is about to be; null while nothing is. */
  current: Version
  next: Version | null = null
  isReady = false
  /** When each record that it knows of was current, in ms of the world. */
  readonly known = new Map<string, number>()
  readonly #schedule: Schedule
  #supervisor: Supervisor | null = null
  #phase: 'starting' | 'running' | 'stopping' = 'starting'
  #isReloading = false

  constructor(schedule: Schedule, process: Process, channel: Channel | null) {
    const { world } = schedule
    this.#schedule = schedule
    this.process = process
    this.channel = channel
    this.current = schedule.version(0)
    if (channel !== null) channel.stop = () => void this.#stop()
    this.before = channel === null ? null : Predecessor.find(channel.nextSide)
    const records = channel === null ? [0, 3, 700][world.below(3)]! : 0
    for (let i = 0; i < records; i++) this.known.set(`k${i}`, -world.below(1_000))
    this.upgrade = new Upgrade({
      ...{ gateway: this, log, upgrades, env: () => ({}), succeeded: () => {} },
      countedBefore: async () => this.before?.ended(grace),
      start: env => {
        const next = new Channel(schedule, process, env)
        schedule.begin(next)
        return next.child
      },
    })
  }

  get settled(): string | null {
    return this.#phase === 'running' ? null : `the gateway is ${this.#phase}`
  }

  get bequest(): Inheritance {
    const edge = this.#supervisor!.sockets.map(socket => ({ ...socket, ...endpoint }))
    return { edge, admin: null, secret: Buffer.alloc(32) }
  }

  get loans(): readonly LentRecord[] {
    const now = this.#schedule.world.time
    return [...this.known].map(([key, at]) => ({
      ...{ found: ['token', key] as const, loan: { value: {} as never, age: now - at } },
    }))
  }

  async start(): Promise<void> {
    const { world, count, may } = this.#schedule
    const inherited = this.before === null ? null : await this.before.inheritance
    this.before?.passLoans(records => this.#adopt(records))
    if (this.channel !== null && may.hang && world.maybe(0.3)) return this.#hang(this.channel)
    if (this.before !== null && may.fail && world.maybe(0.3)) return this.#fail()
    const parts = { documentation: null, sidePort, metrics, log, clock: this.process.clock, supervision }
    this.#supervisor = new Supervisor(count, this.current, parts)
    try {
      await this.#supervisor.listen(socketsFor(this.current, inherited?.edge ?? []))
    } catch {
      return this.#fail()
    }
    if (this.#phase !== 'starting') return
    this.#phase = 'running'
    this.isReady = true
    world.note(`${this.process.name} serves`)
    await this.before?.relieve()
    this.#checkLoans()
  }

  /** As the gateway does: what is prepared everywhere is in effect at once for whatever starts from then on. */
  async reload(): Promise<void> {
    if (this.settled !== null || this.#isReloading) return
    this.#isReloading = true
    const { world } = this.#schedule
    const config = this.#schedule.version(world.maybe(0.3) ? 0.5 : 0)
    try {
      const prepared = await this.#supervisor!.prepare(config)
      this.next = config
      await prepared.commit([])
      this.current = config
      world.note(`${config.version} is in effect in ${this.process.name}`)
    } catch (refusal) {
      world.note(`${config.version} is refused: ${(refusal as Error).message}`)
    }
    this.next = null
    this.#isReloading = false
  }

  makeWay(): void {
    void this.#stop()
  }

  async goOn(): Promise<void> {
    this.#schedule.world.note(`${this.process.name} goes on, as the next one has failed`)
  }

  async snapshots(): Promise<readonly never[]> {
    return []
  }

  async #stop(): Promise<void> {
    if (this.#phase === 'stopping') return
    this.#phase = 'stopping'
    this.#schedule.world.note(`${this.process.name} stops`)
    this.upgrade.abort()
    await this.#supervisor?.drain(grace)
    await this.upgrade.close()
    this.#schedule.end(this.process)
  }

  /** Without the gateway before, it is up to the service manager. */
  #hang({ nextEvents, isBroken }: Channel): void {
    this.#schedule.world.note(`${this.process.name} hangs`)
    if (isBroken) this.#schedule.end(this.process)
    else nextEvents.once('disconnect', () => this.#schedule.end(this.process))
  }

  async #fail(): Promise<void> {
    await this.before?.fail('it cannot start')
    this.#supervisor?.destroy()
    this.#schedule.end(this.process)
  }

  #adopt(records: readonly LentRecord[]): void {
    const { world, gateways } = this.#schedule
    for (const { found, loan } of records) {
      const [, key] = found
      const knownAt = world.time - loan.age
      const truth = Math.max(...gateways.filter(one => one !== this).map(one => one.known.get(key) ?? -1e9))
      if (knownAt > truth + 1) world.fault(`${key} is taken for ${knownAt - truth} ms newer than it is`)
      this.known.set(key, knownAt)
    }
  }

  /** What the gateway before had is known, if that has lived to say so. */
  #checkLoans(): void {
    const { world, gateways } = this.#schedule
    const before = gateways.find(({ process }) => process === this.channel?.before)
    if (before === undefined || this.channel!.isBroken) return
    for (const key of before.known.keys())
      if (!this.known.has(key)) return world.fault(`${this.process.name} does not know ${key}`)
  }
}

/** The channel between a gateway and its next one, as each side has it. */
class Channel {
  readonly before: Process
  readonly next: Process
  readonly child: ChildProcess
  readonly nextSide: Parameters<typeof Predecessor.find>[0]
  isBroken = false
  stop: () => void = () => {}
  readonly #schedule: Schedule
  #to = 0
  #from = 0

  constructor(schedule: Schedule, before: Process, env: NodeJS.ProcessEnv) {
    const { world, gateways } = schedule
    this.#schedule = schedule
    this.before = before
    this.next = world.process(`g${gateways.length}`)
    const isOpen = () => !this.isBroken
    this.child = Object.assign(new EventEmitter(), {
      ...{ pid: 1, exitCode: null, signalCode: null, channel: { unref: () => {} }, unref: () => {} },
      get connected() {
        return isOpen()
      },
      send: (message: FromBefore, handle: Handle | undefined, _: unknown, sent: () => void) => {
        const given = handle?.passTo(this.next)
        this.#to = this.#after(this.#to, this.next, () => this.nextEvents.emit('message', message, given))
        world.later(before, 0, sent)
      },
      disconnect: () => this.#break(),
      kill: (signal: NodeJS.Signals) => {
        if (signal === 'SIGTERM') world.later(this.next, 0, () => this.stop())
        else this.#schedule.end(this.next)
      },
    }) as unknown as ChildProcess
    this.nextSide = Object.assign(this.nextEvents, {
      env,
      get connected() {
        return isOpen()
      },
      send: (message: FromNext, _: unknown, __: unknown, sent: () => void) => {
        this.#from = this.#after(this.#from, before, () => this.child.emit('message', message))
        world.later(this.next, 0, sent)
        return true
      },
      disconnect: () => this.#break(),
    }) as unknown as Channel['nextSide']
  }

  readonly nextEvents = new EventEmitter()

  /** One of both processes has ended. */
  notice(process: Process): void {
    if (process === this.next) {
      this.#from = this.#after(this.#from, this.before, () => this.child.emit('exit', 1, null))
      this.isBroken = true
    } else if (process === this.before) this.#break()
  }

  #break(): void {
    if (this.isBroken) return
    this.isBroken = true
    this.#to = this.#after(this.#to, this.next, () => this.nextEvents.emit('disconnect'))
  }

  /** Messages of one direction arrive in order. */
  #after(last: number, to: Process, work: () => void): number {
    const { world } = this.#schedule
    const at = Math.max(last, world.time + world.random() ** 2 * world.network.maxDelay)
    world.later(to, at - world.time, work)
    return at
  }
}
