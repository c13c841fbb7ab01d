// Reloads over workers that crash, hang, refuse and restart meanwhile: each worker serves the configuration before or the one
// after, no worker the one before once the reload has succeeded, and none one that was refused. The supervisor is the real one,
// and its workers are not.

import childProcess, { type ChildProcess } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import type { Logger } from '../../src/log/log.ts'
import type { Metrics } from '../../src/metrics/metrics.ts'
import { usualSupervision } from '../../src/process/workers/supervision.ts'
import { Supervisor } from '../../src/process/workers/supervisor.ts'
import { SimulatedWorker, type Version } from './worker.ts'
import { type Outcome, type Process, World } from './world.ts'

/** Hangs end by the timeout of reloads. */
const supervision = { ...usualSupervision, heartbeat: 3_600_000 }
const log = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Logger
const metrics = { workerRestarts: { inc: () => {} } } as unknown as Metrics
const sidePort = { endpoint: { host: '127.0.0.1', port: 1 }, issuer: null, secret: new Uint8Array(32) }

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const world = new World(seed, traces)
  const schedule = new Schedule(world)
  const { fork } = childProcess
  Object.assign(childProcess, { fork: () => schedule.fork() })
  syncBuiltinESMExports()
  try {
    await world.live(() => schedule.run())
  } finally {
    Object.assign(childProcess, { fork })
    syncBuiltinESMExports()
  }
  return world
}

class Schedule {
  readonly #world: World
  readonly #main: Process
  readonly #workers: SimulatedWorker[] = []
  readonly #count: number
  readonly #may: Readonly<Record<'crash' | 'hang', boolean>>
  readonly #supervisor: Supervisor
  /** What is in effect, and what is about to be; null while nothing is. */
  #current: Version
  #next: Version | null = null
  #reloading: { readonly since: number } | null = null
  #versions = 0

  constructor(world: World) {
    this.#world = world
    this.#main = world.process('main')
    this.#count = 1 + world.below(4)
    this.#may = { crash: world.maybe(0.7), hang: world.maybe(0.3) }
    world.network.maxDelay = [0, 10, 200][world.below(3)]!
    this.#current = this.#version(0)
    const parts = { documentation: null, sidePort, metrics, log, clock: this.#main.clock, supervision }
    this.#supervisor = new Supervisor(this.#count, this.#current, parts)
  }

  async run(): Promise<void> {
    const world = this.#world
    await world.run(this.#main, () => void this.#supervisor.listen().catch(ignore))
    await world.pass(3_000)
    const length = 20 + world.below(40)
    for (let i = 0; i < length && world.faults.length === 0; i++) {
      await this.#step()
      await world.pass(world.maybe(0.1) ? world.below(20_000) : world.below(600))
      this.#check()
    }
    await world.pass(120_000)
    this.#check()
    const serving = this.#workers.filter(({ isAlive, serves }) => isAlive && serves !== null).length
    if (world.faults.length === 0 && serving !== this.#count)
      world.fault(`${serving} of ${this.#count} workers serve`)
    await world.run(this.#main, () => void this.#supervisor.drain(0))
    await world.pass(10_000)
  }

  async #step(): Promise<void> {
    const world = this.#world
    const dice = world.below(100)
    if (dice < 45 && this.#reloading === null) await world.run(this.#main, () => void this.#reload())
    else if (dice < 75 && this.#may.crash) world.pick(this.#workers.filter(({ isAlive }) => isAlive))?.die()
  }

  /** As the gateway does: what is prepared everywhere is in effect at once for whatever starts from then on. */
  async #reload(): Promise<void> {
    const world = this.#world
    const config = this.#version(world.maybe(0.3) ? 0.5 : 0)
    this.#reloading = { since: world.time }
    world.note(`reload of ${config.version}`)
    try {
      const prepared = await this.#supervisor.prepare(config)
      if (this.#workers.some(({ hasRefused }) => hasRefused === config.version))
        world.fault(`${config.version} is committed, which a worker has refused`)
      this.#next = config
      await prepared.commit([])
      this.#current = config
      world.note(`${config.version} is in effect`)
    } catch (refusal) {
      world.note(`${config.version} is refused: ${(refusal as Error).message}`)
    }
    this.#next = null
    this.#reloading = null
    this.#check()
  }

  #check(): void {
    const world = this.#world
    for (const { process, serves, isAlive } of this.#workers)
      if (isAlive && serves !== null && serves !== this.#current.version && serves !== this.#next?.version)
        world.fault(`${process.name} serves ${serves}, but ${this.#current.version} is in effect`)
    if (this.#reloading !== null && world.time - this.#reloading.since > 60_000)
      world.fault(`a reload takes ${world.time - this.#reloading.since} ms`)
  }

  /** What the supervisor gets as a process. */
  fork(): ChildProcess {
    const process = this.#world.process(`w${this.#workers.length}`)
    const worker = new SimulatedWorker(this.#world, {
      ...{ main: this.#main, process, mayHang: this.#may.hang, kernel: null },
    })
    this.#workers.push(worker)
    return worker.child
  }

  #version(refusedBy: number): Version {
    const parts = { listen: [], log: { numeric: false }, access: { ban: null }, zones: [] }
    return { ...parts, version: this.#versions++, refusedBy } as unknown as Version
  }
}

function ignore(): void {}
