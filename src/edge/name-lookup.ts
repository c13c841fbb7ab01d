// Asks where the name of an origin leads. Called by `address-book.ts` for requests and by `health-check.ts` for checks.
//
// The system answers: its hosts file, search list and order of sources hold for the gateway as for every other program of the machine. How long an answer holds
// it does not tell; who wants to know has DNS asked for that beside it.
import { lookup } from 'node:dns/promises'
import { type Clock, systemClock } from '../base/clock.ts'
import { DnsQuestions } from './dns-questions.ts'
import { LookupQueue } from './lookup-queue.ts'
import type { Failure } from './origin-connection.ts'

/** Where a name leads: IP addresses, at least one. */
export interface NameAnswer {
  readonly addresses: readonly string[]
  /** Finds the seconds that the answer holds; null where nobody says so. Never rejects. */
  readonly ttl: () => Promise<number | null>
}

export interface NameLookupOptions {
  /** DNS servers as IP addresses, each with a port where it is not 53, which are asked in place of the system; none: the system is. */
  readonly servers?: readonly string[]
  /** How the system is asked. */
  readonly system?: (name: string) => Promise<readonly string[]>
  readonly clock?: Clock
}

/** Names that the system is asked for at a time, and those of them that failed last time: Node has two threads for it, and a dead name may hold one for 10 s. */
const MOST = 4
const MOST_DOUBTFUL = 1
/** Ms for which the system is not asked again for a name that it did not find. */
const REMEMBERED = 1_000
/** Names whose failure is remembered. */
const MOST_FAILED = 4_096

export class NameLookup {
  readonly #dns: DnsQuestions
  readonly #system: ((name: string) => Promise<readonly string[]>) | null
  readonly #clock: Clock
  readonly #queue = new LookupQueue(MOST, MOST_DOUBTFUL)
  readonly #underWay = new Map<string, Promise<NameAnswer | Failure>>()
  /** Names that the system did not find when it was asked last, the latest at the end. */
  readonly #failed = new Map<string, { readonly failure: Failure; readonly at: number }>()

  constructor({ servers = [], system = askSystem, clock = systemClock }: NameLookupOptions = {}) {
    this.#dns = new DnsQuestions(servers)
    this.#system = servers.length === 0 ? system : null
    this.#clock = clock
  }

  /** Looks a name up, once for all who ask meanwhile; never rejects. */
  ask(name: string): Promise<NameAnswer | Failure> {
    const joined = this.#underWay.get(name)
    if (joined !== undefined) return joined
    const answer = this.#ask(name)
    this.#underWay.set(name, answer)
    return answer
  }

  /** Cancels what DNS was asked. */
  close(): void {
    this.#dns.close()
  }

  async #ask(name: string): Promise<NameAnswer | Failure> {
    try {
      return await (this.#system === null ? this.#askDns(name) : this.#askSystem(name, this.#system))
    } catch (failure) {
      return failure as Failure
    } finally {
      this.#underWay.delete(name)
    }
  }

  async #askDns(name: string): Promise<NameAnswer> {
    const { addresses, ttl } = await this.#dns.ask(name)
    return { addresses, ttl: () => Promise.resolve(ttl) }
  }

  async #askSystem(name: string, system: NonNullable<NameLookupOptions['system']>): Promise<NameAnswer> {
    const last = this.#failed.get(name)
    if (last !== undefined && this.#clock.monotonic() - last.at < REMEMBERED) throw last.failure
    try {
      const addresses = await this.#queue.run(last !== undefined, () => system(name))
      this.#failed.delete(name)
      return { addresses, ttl: () => this.#ttlOf(name) }
    } catch (failure) {
      this.#noteFailure(name, failure as Failure)
      throw failure
    }
  }

  async #ttlOf(name: string): Promise<number | null> {
    try {
      return (await this.#dns.ask(name)).ttl
    } catch {
      return null
    }
  }

  #noteFailure(name: string, failure: Failure): void {
    this.#failed.delete(name)
    this.#failed.set(name, { failure, at: this.#clock.monotonic() })
    // Names that no configuration has any more are asked for no more, and so are the oldest.
    if (this.#failed.size > MOST_FAILED) this.#failed.delete(this.#failed.keys().next().value!)
  }
}

async function askSystem(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, order: 'verbatim' })
  return found.map(({ address }) => address)
}
