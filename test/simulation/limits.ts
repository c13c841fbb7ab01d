// Rate limits that processes share over a store: within any period they let in no more than the limit, and what they may let in
// before they report it; without the store, no more than the limit each. What fits is not refused.

import { type Limit, limitOf } from '../../src/limits/limit.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import type { CounterAsk, Counters } from '../../src/store/contract/store.ts'
import { SqliteCounters } from '../../src/store/sqlite/counters.ts'
import { type Outcome, type Process, World } from './world.ts'

interface Worker {
  readonly process: Process
  readonly limiter: Limiter
}

/** A request that was let in, in ms of the world. */
interface Admission {
  readonly askedAt: number
  readonly admittedAt: number
}

/** One key of a limit. */
interface Key {
  readonly name: string
  readonly limit: Limit
  readonly admissions: Admission[]
  undecided: number
}

const clock = { now: () => Date.now(), monotonic: () => performance.now() }

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const counters = await SqliteCounters.open(':memory:', 1_000, clock)
  const world = new World(seed, traces)
  await world.live(() => new Schedule(world, counters).run())
  counters.close()
  return world
}

class Schedule {
  readonly #world: World
  readonly #counters: Counters
  readonly #keys: Key[] = []
  readonly #workers: Worker[] = []
  /** Whether the store may be unreachable or slow. */
  readonly #isTroubled: boolean
  readonly #mayCrash: boolean
  /** Processes that have ended, which may have let in what they had not reported. */
  #ended = 0

  constructor(world: World, counters: Counters) {
    this.#world = world
    this.#counters = counters
    this.#isTroubled = world.maybe(0.4)
    this.#mayCrash = world.maybe(0.3)
    const { network } = world
    // As over the connection to a store: a report is counted before what its process asks for next.
    network.keepsOrder = true
    network.maxDelay = [0, 10, 60][world.below(3)]!
    if (this.#isTroubled) {
      network.maxDelay = [10, 300][world.below(2)]!
      network.lost = [0, 0.1][world.below(2)]!
      network.repeated = [0, 0.1][world.below(2)]!
    }
    const count = 1 + world.below(2)
    for (let i = 0; i < count; i++) {
      const max = [1, 5, 19, 20, 60, 199, 200, 1_000][world.below(8)]!
      const period = [1_000, 10_000, 60_000][world.below(3)]!
      const limit = limitOf(`l${i}`, max, { kind: 'sliding', period }, { exact: world.maybe(0.3) })
      this.#keys.push({ name: `k${i}`, limit, admissions: [], undecided: 0 })
    }
    // What one may let in alone can be told more exactly.
    const processes = this.#isTroubled && world.maybe(0.4) ? 1 : 1 + world.below(4)
    for (let i = 0; i < processes; i++) this.#start()
  }

  async run(): Promise<void> {
    const world = this.#world
    const length = 20 + world.below(40)
    for (let i = 0; i < length && world.faults.length === 0; i++) {
      await this.#next()
      const { period } = world.pick(this.#keys)!.limit
      await world.pass(world.maybe(0.1) ? world.random() * period * 1.5 : world.random() * period * 0.2)
    }
    await world.pass(2_000)
    for (const key of this.#keys) this.#check(key)
  }

  async #next(): Promise<void> {
    const world = this.#world
    const dice = world.below(100)
    const key = world.pick(this.#keys)!
    if (dice < 60) for (let i = 1 + world.below(6); i > 0; i--) await this.#ask(key, 1)
    else if (dice < 85) for (const worker of this.#workers) await this.#rush(key, worker)
    else if (dice < 90 && this.#isTroubled) {
      const { process } = this.#worker()
      process.isCutOff = !process.isCutOff
      world.note(`${process.name} ${process.isCutOff ? 'loses' : 'has'} the store`)
    } else if (dice < 93 && this.#mayCrash) {
      const { process } = this.#worker()
      world.kill(process)
      this.#workers.splice(
        this.#workers.findIndex(worker => worker.process === process),
        1,
      )
      this.#ended++
      this.#start()
    }
  }

  #start(): void {
    const world = this.#world
    const process = world.process(`w${this.#workers.length + this.#ended}`)
    const counters = {
      isUnreachable: false,
      spend: (ask: CounterAsk) => world.call(process, () => this.#counters.spend(ask)),
    }
    this.#workers.push({ process, limiter: new Limiter({ clock: process.clock, counters }) })
  }

  #worker(): Worker {
    return this.#world.pick(this.#workers)!
  }

  async #ask(key: Key, count: number, worker = this.#worker()): Promise<void> {
    this.#world.note(
      `${worker.process.name}: ${count} of ${key.name}, of which ${key.admissions.length} were let in`,
    )
    await this.#world.run(worker.process, () => {
      for (let i = 0; i < count; i++) void this.#spend(key, worker)
    })
  }

  async #rush(key: Key, worker: Worker): Promise<void> {
    await this.#ask(key, Math.ceil(key.limit.max * this.#world.random()), worker)
  }

  async #spend(key: Key, { limiter, process }: Worker): Promise<void> {
    const world = this.#world
    const { limit, admissions } = key
    const askedAt = world.time
    key.undecided++
    const { isAllowed, wait } = await limiter.spend(limit, key.name)
    key.undecided--
    if (!(wait >= 0)) world.fault(`${process.name} says to wait ${wait} ms`)
    if (isAllowed) admissions.push({ askedAt, admittedAt: world.time })
    else if (!this.#isTroubled && !this.#mayBeFull(key, askedAt))
      world.fault(`${process.name} refuses one of ${key.name}, of which fewer than ${limit.max} were let in`)
  }

  /** What was reported late counts for longer, and the window by a sixtieth. */
  #mayBeFull({ limit, admissions, undecided }: Key, now: number): boolean {
    const room = limit.max - undecided
    const last = room > 0 ? admissions.at(-room) : undefined
    return room <= 0 || (last !== undefined && last.admittedAt >= now - limit.period * 1.12 - 3_000)
  }

  /** Whether any period has more than it may. */
  #check({ name, limit, admissions }: Key): void {
    const { max, period, unreported } = limit
    const processes = this.#workers.length + this.#ended
    const unreportedMax = Math.max(unreported, limit.blind)
    // Also one whose own query fills the limit: until the reply comes, it knows of less. A process that counts alone knows
    // how many there were, but not when.
    const most = (this.#isTroubled ? processes * 2 * max : max) + processes * unreportedMax
    const begins = new Set(admissions.map(({ askedAt }) => askedAt))
    const worstIn = (span: number) =>
      Math.max(
        0,
        ...[...begins].map(
          begin => admissions.filter(one => one.askedAt >= begin && one.admittedAt < begin + span).length,
        ),
      )
    const worst = worstIn(period)
    this.#world.note(`${name}: at most ${worst} of ${max} in ${period} ms, ${admissions.length} in all`)
    if (worst > most) this.#world.fault(`${name}: ${worst} in ${period} ms, where ${most} of ${max} may be`)
    // In a fifth of the period, what one process has let in can have expired no more than that far.
    const [burst, mostAtOnce] = [worstIn(period / 5), Math.ceil(1.25 * max) + unreportedMax + 1]
    if (processes === 1 && burst > mostAtOnce)
      this.#world.fault(`${name}: ${burst} in ${period / 5} ms, where ${mostAtOnce} of ${max} may be`)
  }
}
