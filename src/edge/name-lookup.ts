// Asks where the name of an origin leads. Called by `address-book.ts` for requests and by `health-checker.ts` for checks.
//
// The system answers: its hosts file, search list and order of sources hold for the gateway as for every other program of the machine. How long an answer holds
// it does not tell; DNS is asked for that beside it, and nobody waits for what it says.
import { lookup, Resolver } from 'node:dns/promises'
import type { Failure } from './origin-connection.ts'

/** Where a name leads: IP addresses, at least one. */
export interface NameAnswer {
  readonly addresses: readonly string[]
  /** Seconds that the answer holds; null where nobody says so. Never rejects. */
  readonly ttl: Promise<number | null>
}

interface NameLookupOptions {
  /** DNS servers as IP addresses, each with a port where it is not 53, which are asked in place of the system; none: the system is. */
  readonly servers?: readonly string[]
}

/** Ms for one try with one DNS server, and the tries. */
const PATIENCE = 2_000
const TRIES = 2

interface DnsAnswer {
  readonly addresses: readonly string[]
  readonly ttl: number
}

export class NameLookup {
  readonly #servers: readonly string[]
  readonly #underWay = new Map<string, Promise<NameAnswer | Failure>>()
  readonly #resolvers = new Set<Resolver>()

  constructor({ servers = [] }: NameLookupOptions = {}) {
    this.#servers = servers
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
    for (const resolver of this.#resolvers) resolver.cancel()
  }

  async #ask(name: string): Promise<NameAnswer | Failure> {
    try {
      return await (this.#servers.length === 0 ? this.#askSystem(name) : this.#askServers(name))
    } catch (failure) {
      return failure as Failure
    } finally {
      this.#underWay.delete(name)
    }
  }

  async #askSystem(name: string): Promise<NameAnswer> {
    const ttl = this.#askDns(name).then(
      answer => answer.ttl,
      () => null,
    )
    const found = await lookup(name, { all: true, order: 'verbatim' })
    return { addresses: found.map(({ address }) => address), ttl }
  }

  async #askServers(name: string): Promise<NameAnswer> {
    const { addresses, ttl } = await this.#askDns(name)
    return { addresses, ttl: Promise.resolve(ttl) }
  }

  /** Asks for addresses of both families; one of them is enough. */
  async #askDns(name: string): Promise<DnsAnswer> {
    // One for each question: those of the system may have changed, and its sockets close with it.
    const resolver = new Resolver({ timeout: PATIENCE, maxTimeout: PATIENCE, tries: TRIES })
    if (this.#servers.length > 0) resolver.setServers(this.#servers)
    this.#resolvers.add(resolver)
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ])
    this.#resolvers.delete(resolver)
    const records = [v4, v6].flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (records.length === 0) throw failureOf(v4) ?? failureOf(v6) ?? nothingThere
    return {
      addresses: records.map(({ address }) => address),
      ttl: Math.min(...records.map(({ ttl }) => ttl)),
    }
  }
}

/** What an alias that leads nowhere amounts to, which c-ares does not call a failure. */
const nothingThere: Failure = { code: 'ENODATA' }

/** Gives why one family failed; that there is nothing of it is no reason while the other one may have another. */
function failureOf(answer: PromiseSettledResult<unknown>): Failure | null {
  if (answer.status === 'fulfilled') return null
  const failure = answer.reason as Failure
  return failure.code === nothingThere.code ? null : failure
}
