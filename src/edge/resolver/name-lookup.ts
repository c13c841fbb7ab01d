// Resolves names with the system resolver, its hosts file and search list. TTLs come from DNS.

import { lookup } from 'node:dns/promises'
import { type Clock, systemClock } from '../../base/clock.ts'
import { DnsQuestions } from './dns-questions.ts'
import { LookupQueue, type LastResult } from './lookup-queue.ts'
import { type Failure, failureOf } from '../../errors/catalogue/origin-failure.ts'

export interface NameAnswer {
  readonly addresses: readonly string[]
  /** In seconds; null if unknown. Never rejects. */
  readonly ttl: () => Promise<number | null>
}

interface NameLookupOptions {
  /** With a port unless it is 53; empty for the system. */
  readonly servers?: readonly string[]
  readonly system?: (name: string) => Promise<readonly string[]>
  readonly clock?: Clock
}

/** libuv gives lookups half of its threads, and a dead name may block one for 10 s. */
const maxLookups = Math.ceil((Number(process.env.UV_THREADPOOL_SIZE) || 4) / 2)
const failureLifetime = 1_000
const expired = Number.NEGATIVE_INFINITY
const maxNames = 4_096

interface Outcome {
  readonly failure: Failure | null
  readonly at: number
}

export class NameLookup {
  readonly #dns: DnsQuestions
  readonly #system: ((name: string) => Promise<readonly string[]>) | null
  readonly #clock: Clock
  readonly #queue = new LookupQueue(maxLookups)
  readonly #pending = new Map<string, Promise<NameAnswer | Failure>>()
  /** The most recent at the end. */
  readonly #outcomes = new Map<string, Outcome>()

  constructor({ servers = [], system = systemLookup, clock = systemClock }: NameLookupOptions = {}) {
    this.#dns = new DnsQuestions(servers)
    this.#system = servers.length === 0 ? system : null
    this.#clock = clock
  }

  /** Once for all concurrent callers; never rejects. */
  lookUp(name: string): Promise<NameAnswer | Failure> {
    const pending = this.#pending.get(name)
    if (pending !== undefined) return pending
    const answer = this.#lookUp(name)
    this.#pending.set(name, answer)
    return answer
  }

  close(): void {
    this.#dns.close()
  }

  async #lookUp(name: string): Promise<NameAnswer | Failure> {
    try {
      return await (this.#system === null
        ? this.#resolveByDns(name)
        : this.#resolveBySystem(name, this.#system))
    } catch (thrown) {
      return failureOf(thrown)
    } finally {
      this.#pending.delete(name)
    }
  }

  async #resolveByDns(name: string): Promise<NameAnswer> {
    const { addresses, ttl } = await this.#dns.resolve(name)
    return { addresses, ttl: () => Promise.resolve(ttl) }
  }

  async #resolveBySystem(
    name: string,
    system: NonNullable<NameLookupOptions['system']>,
  ): Promise<NameAnswer | Failure> {
    const last = this.#outcomes.get(name) ?? null
    if (last?.failure && this.#clock.monotonic() - last.at < failureLifetime) return last.failure
    try {
      const addresses = await this.#queue.run(lastResultOf(last), () => system(name))
      this.#note(name, null, this.#clock.monotonic())
      return { addresses, ttl: () => this.#ttlOf(name) }
    } catch (thrown) {
      const failure = failureOf(thrown)
      // A lost packet proves nothing: an immediate retry must reach the system.
      const isFirst = failure.way === 'name_unanswered' && !last?.failure
      this.#note(name, failure, isFirst ? expired : this.#clock.monotonic())
      return failure
    }
  }

  async #ttlOf(name: string): Promise<number | null> {
    try {
      return (await this.#dns.resolve(name)).ttl
    } catch {
      return null
    }
  }

  #note(name: string, failure: Failure | null, at: number): void {
    this.#outcomes.delete(name)
    this.#outcomes.set(name, { failure, at })
    // The oldest entries are of names that left the configuration.
    if (this.#outcomes.size > maxNames) this.#outcomes.delete(this.#outcomes.keys().next().value!)
  }
}

function lastResultOf(last: Outcome | null): LastResult {
  if (last === null) return 'new'
  return last.failure === null ? 'found' : 'failed'
}

async function systemLookup(name: string): Promise<readonly string[]> {
  const results = await lookup(name, { all: true, order: 'verbatim' })
  return results.map(({ address }) => address)
}
