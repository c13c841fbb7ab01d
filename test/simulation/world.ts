// A world for one schedule, in which a seed decides all that happens: its time, its processes with their timers and
// clocks, and a network that delays, reorders, loses and repeats what it carries.

import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../src/base/clock.ts'
import { StoreUnreachable } from '../../src/store/contract/store.ts'
import { randomOf } from '../help/random.ts'

export interface Outcome {
  readonly faults: readonly string[]
  readonly trace: readonly string[]
  readonly events: number
}

/** Ms since the epoch at which each world begins. */
const epoch = 1_700_000_000_000
const maxStill = 20_000

export class Network {
  /** The longest that a message takes, in ms. */
  maxDelay = 20
  /** The parts of messages that are lost, and that arrive twice. */
  lost = 0
  repeated = 0
  /** Whether calls of one process arrive in the order in which they were sent, as over one connection. */
  keepsOrder = false
}

/** A process: it runs only while it is neither stopped nor killed, and its clock is its own. */
export class Process {
  readonly name: string
  readonly clock: Clock
  isAlive = true
  isPaused = false
  isCutOff = false
  /** By how many ms its clock of the day is wrong. */
  skew = 0
  /** Its calls that are going to fail, and when it last had trouble, in ms of the world. */
  doomed = 0
  troubledAt = Number.NEGATIVE_INFINITY
  /** When it last went on after it had been stopped, in ms of the world. */
  resumedAt = Number.NEGATIVE_INFINITY
  /** When the last of its calls arrives, where their order is kept. */
  lastArrivalAt = 0

  constructor(name: string, time: () => number) {
    this.name = name
    this.clock = { now: () => epoch + Math.floor(time() + this.skew), monotonic: time }
  }
}

interface Event {
  readonly at: number
  readonly of: Process
  readonly work: () => void
  isOver: boolean
}

/** What `setTimeout` returns in a world. */
class Timer {
  event: Event | null = null

  unref(): this {
    return this
  }
}

export class World implements Outcome {
  readonly faults: string[] = []
  readonly trace: string[] = []
  events = 0
  readonly network = new Network()
  readonly random: () => number
  /** Runs the parts of a schedule that belong to no process, such as servers. */
  readonly outside: Process
  readonly #traces: boolean
  #time = 0
  /** Events since time passed. */
  #still = 0
  #current: Process
  /** Calls that servers have not done yet. */
  #serving = 0
  /** By time, and those of one time in the order in which they were added. */
  readonly #due: Event[] = []
  /** What stopped processes have missed. */
  readonly #missed: Event[] = []

  constructor(seed: number, traces: boolean) {
    this.random = randomOf(seed)
    this.#traces = traces
    this.outside = this.process('outside')
    this.#current = this.outside
  }

  get time(): number {
    return this.#time
  }

  /** The process that runs. */
  get current(): Process {
    return this.#current
  }

  process(name: string): Process {
    return new Process(name, () => this.#time)
  }

  /** Runs a schedule with the timers and clocks of this world, which are those of the process that runs. */
  async live(schedule: () => Promise<void>): Promise<void> {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis
    const { now } = Date
    const { random } = Math
    const start = (work: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      this.#start(() => work(...args), Math.max(1, ms), false)
    const repeat = (work: () => void, ms: number) => this.#start(work, ms, true)
    const stop = (timer?: Timer | null) => {
      if (timer?.event) timer.event.isOver = true
    }
    Object.assign(globalThis, {
      setTimeout: start,
      clearTimeout: stop,
      setInterval: repeat,
      clearInterval: stop,
    })
    Date.now = () => this.#current.clock.now()
    Math.random = this.random
    Object.defineProperty(performance, 'now', { value: () => this.#time, configurable: true })
    try {
      await schedule()
    } catch (bug) {
      this.fault(`thrown: ${(bug as Error).stack}`)
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval })
      Date.now = now
      Math.random = random
      Reflect.deleteProperty(performance, 'now')
    }
  }

  /** Lets time pass, with all that is due meanwhile. */
  async pass(ms: number): Promise<void> {
    const until = this.#time + ms
    for (let event = this.#due[0]; event !== undefined && event.at <= until; event = this.#due[0]) {
      this.#due.shift()
      if (event.isOver || !event.of.isAlive) continue
      this.#still = event.at > this.#time ? 0 : this.#still + 1
      if (this.#still > maxStill) throw new Error('it goes on and on without any time passing')
      this.#time = Math.max(this.#time, event.at)
      if (event.of.isPaused) this.#missed.push(event)
      else await this.run(event.of, event.work)
    }
    this.#time = until
  }

  /** Runs something in a process, until it waits for another event. */
  async run(of: Process, work: () => void): Promise<void> {
    this.events++
    this.#current = of
    work()
    do await turn()
    while (this.#serving > 0)
    this.#current = this.outside
  }

  later(of: Process, ms: number, work: () => void): Event {
    return this.#at(this.#time + ms, of, work)
  }

  pause(of: Process): void {
    of.isPaused = true
    this.note(`${of.name} is stopped`)
  }

  resume(of: Process): void {
    of.isPaused = false
    of.troubledAt = of.resumedAt = this.#time
    this.note(`${of.name} goes on`)
    for (const event of this.#missed.splice(0))
      if (event.of === of) this.later(of, 0, () => event.isOver || event.work())
      else this.#missed.push(event)
  }

  kill(of: Process): void {
    of.isAlive = false
    this.note(`${of.name} is killed`)
  }

  /** Whether a process has had no trouble with its calls for so many ms. */
  isWell(of: Process, ms: number): boolean {
    return !of.isPaused && !of.isCutOff && of.doomed === 0 && this.#time - of.troubledAt > ms
  }

  /** Carries a message one way, if it arrives. */
  send(to: Process, work: () => void): void {
    if (this.maybe(this.network.lost)) return
    this.later(to, this.#delay(), work)
    if (this.maybe(this.network.repeated)) this.later(to, this.#delay(), work)
  }

  /** Calls a server, which may do it twice; rejects with `StoreUnreachable` after so many ms. */
  call<T>(from: Process, serve: () => T | Promise<T>, timeout = 1_000): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const isLost = from.isCutOff || this.maybe(this.network.lost)
    // A server may have done what it was not heard of.
    const isDone = !isLost || this.maybe(0.5)
    let isSettled = false
    const settle = (work: () => void) => {
      if (isSettled) return
      isSettled = late.isOver = true
      work()
    }
    const respond = (work: () => void) => {
      if (!isLost) this.later(from, this.#delay(), () => settle(work))
    }
    const arrive = async () => {
      this.#serving++
      try {
        const value = await serve()
        respond(() => resolve(value))
      } catch (error) {
        respond(() => reject(error))
      }
      this.#serving--
    }
    if (isDone) this.#deliver(from, () => void arrive())
    if (isDone && this.maybe(this.network.repeated)) this.#deliver(from, () => void arrive())
    if (isLost) from.doomed++
    const late = this.later(from, timeout, () => {
      if (isLost) from.doomed--
      from.troubledAt = this.#time
      settle(() => reject(new StoreUnreachable('timed out')))
    })
    return promise
  }

  below(bound: number): number {
    return Math.floor(this.random() * bound)
  }

  maybe(part = 0.5): boolean {
    return this.random() < part
  }

  pick<T>(list: readonly T[]): T | null {
    return list.length === 0 ? null : list[this.below(list.length)]!
  }

  fault(text: string): void {
    this.note(`FAULT: ${text}`)
    this.faults.push(text)
  }

  note(text: string): void {
    if (this.#traces) this.trace.push(`${this.#time.toFixed(1)} ${text}`)
  }

  #at(at: number, of: Process, work: () => void): Event {
    const event = { at, of, work, isOver: false }
    let place = this.#due.length
    while (place > 0 && this.#due[place - 1]!.at > at) place--
    this.#due.splice(place, 0, event)
    return event
  }

  #delay(): number {
    return this.random() ** 2 * this.network.maxDelay
  }

  /** Lets a call arrive at its server. */
  #deliver(from: Process, work: () => void): void {
    let at = this.#time + this.#delay()
    if (this.network.keepsOrder) at = from.lastArrivalAt = Math.max(from.lastArrivalAt, at)
    this.#at(at, this.outside, work)
  }

  #start(work: () => void, ms: number, repeats: boolean): Timer {
    const timer = new Timer()
    const of = this.#current
    const fire = () => {
      if (repeats) timer.event = this.later(of, ms, fire)
      work()
    }
    timer.event = this.later(of, ms, fire)
    return timer
  }
}
