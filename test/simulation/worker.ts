// A worker as a supervisor sees it: it prepares, commits and discards like `edge-worker.ts`, and accepts connections of sockets.

import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import type { Config } from '../../src/config/model/config.ts'
import type { Ask, FromWorker, SocketPlace, ToWorker } from '../../src/process/workers/messages.ts'
import type { Handle, Kernel } from './kernel.ts'
import type { Process, World } from './world.ts'

/** A configuration, of which nothing else matters here. */
export interface Version extends Config {
  readonly version: number
  /** Which part of the workers refuses it. */
  readonly refusedBy: number
}

interface WorkerParts {
  /** Where its supervisor is. */
  readonly main: Process
  readonly process: Process
  readonly mayHang: boolean
  /** Null if it listens nowhere. */
  readonly kernel: Kernel | null
}

export class SimulatedWorker {
  readonly process: Process
  readonly child: ChildProcess
  serves: number | null = null
  /** The last version that the supervisor has heard it refuse. */
  hasRefused: number | null = null
  readonly #world: World
  readonly #parts: WorkerParts
  readonly #sockets = new Map<string, Handle>()
  #next: Version | null = null
  #starting: Promise<void> | null = null
  #isLeaving = false
  /** When the last messages to and from it arrive: they are in order. */
  #to = 0
  #from = 0

  constructor(world: World, parts: WorkerParts) {
    this.#world = world
    this.#parts = parts
    this.process = parts.process
    this.child = Object.assign(new EventEmitter(), {
      ...{ pid: 1, channel: {}, stderr: new PassThrough() },
      send: (message: ToWorker, handle?: Handle) => this.#hear(message, handle),
      kill: () => this.die(),
    }) as unknown as ChildProcess
  }

  get main(): Process {
    return this.#parts.main
  }

  get isAlive(): boolean {
    return this.process.isAlive
  }

  die(code: number | null = null): boolean {
    if (!this.isAlive) return false
    this.#world.kill(this.process)
    this.#parts.kernel?.bury(this.process)
    this.#from = Math.max(this.#from, this.#world.time + this.#delay())
    this.#world.later(this.main, this.#from - this.#world.time, () =>
      this.child.emit('exit', code, code === null ? 'SIGKILL' : null),
    )
    return true
  }

  /** It accepts what waits at its sockets, finishes its requests, and ends. */
  async leave(): Promise<void> {
    if (this.#isLeaving) return
    this.#isLeaving = true
    for (const handle of this.#sockets.values()) {
      handle.socket.acceptAll(this.process)
      handle.close()
    }
    await this.#parts.kernel?.finished(this.process)
    this.die(0)
  }

  #hear({ id, ask }: ToWorker, handle?: Handle): void {
    const given = handle?.passTo(this.process)
    this.#to = Math.max(this.#to, this.#world.time + this.#delay())
    this.#world.later(this.process, this.#to - this.#world.time, () => void this.#reply(id, ask, given))
  }

  async #reply(id: number, ask: Ask, handle?: Handle): Promise<void> {
    try {
      this.#say({ id, value: await this.#obey(ask, handle) })
    } catch (refusal) {
      const { version } = (ask as { readonly config?: Version }).config ?? { version: null }
      this.#say({ id, error: (refusal as Error).message }, null, () => {
        this.hasRefused = version
      })
    }
  }

  async #obey(ask: Ask, handle?: Handle): Promise<unknown> {
    if (ask.kind === 'start') {
      this.#starting = this.#start(ask.config as Version, ask.slot)
      await this.#starting
      return ask.config.listen
    }
    if (ask.kind === 'socket') this.#sockets.set(nameOf(ask.place), handle!)
    else if (ask.kind === 'adopt') {
      this.#sockets.set(nameOf(ask.place), handle!)
      handle!.accept(this)
    } else if (ask.kind === 'release') {
      this.#sockets.get(nameOf(ask.place))?.close()
      this.#sockets.delete(nameOf(ask.place))
    } else if (ask.kind === 'prepare') await this.#prepare(ask.config as Version)
    else if (ask.kind === 'commit') {
      this.serves = this.#next!.version
      this.#next = null
    } else if (ask.kind === 'discard') this.#next = null
    else if (ask.kind === 'drain') void this.leave()
    return undefined
  }

  async #start({ version }: Version, slot: number): Promise<void> {
    await this.#work(800)
    this.serves = version
    this.#world.note(`${this.process.name} starts with ${version}`)
    const { kernel } = this.#parts
    if (kernel === null) return
    if (this.#sockets.size === 0) {
      const place: SocketPlace = { listener: 0, slot, isAlone: false }
      const handle = kernel.bind(this.process)
      this.#sockets.set(nameOf(place), handle)
      this.#say({ bound: place }, handle)
    }
    for (const handle of this.#sockets.values()) handle.accept(this)
  }

  async #prepare(config: Version): Promise<void> {
    await this.#starting
    await this.#work(300)
    if (this.#parts.mayHang && this.#world.maybe(0.1)) await new Promise(() => {})
    if (this.#world.maybe(config.refusedBy)) throw new Error('it cannot be prepared')
    this.#next = config
  }

  #work(ms: number): Promise<void> {
    return new Promise(resolve => {
      this.#world.later(this.process, this.#world.below(ms), resolve)
    })
  }

  #say(message: FromWorker, handle: Handle | null = null, heard = () => {}): void {
    const given = handle?.passTo(this.main)
    this.#from = Math.max(this.#from, this.#world.time + this.#delay())
    this.#world.later(this.main, this.#from - this.#world.time, () => {
      heard()
      this.child.emit('message', message, given)
    })
  }

  #delay(): number {
    return this.#world.random() ** 2 * this.#world.network.maxDelay
  }
}

function nameOf({ listener, slot }: SocketPlace): string {
  return `${listener} ${slot}`
}
