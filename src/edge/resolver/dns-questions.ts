// Looks up the addresses of names in DNS, with their TTL.

import { Resolver } from 'node:dns/promises'
import { LookupQueue } from './lookup-queue.ts'
import type { Cause } from '../../errors/catalogue/origin-failure.ts'

/** Addresses of both families, at least one, and the seconds for which all of them are valid. */
interface DnsAnswer {
  readonly addresses: readonly string[]
  readonly ttl: number
}

/** Ms for one try with one DNS server, and the number of tries. */
const patience = 2_000
const tries = 2
/** Names that are looked up at a time, with two queries each. */
const mostNames = 32

export class DnsQuestions {
  readonly #servers: readonly string[]
  readonly #queue = new LookupQueue(mostNames)
  #resolver: Resolver | null = null
  #asking = 0
  #isClosed = false

  /** Takes IP addresses with or without port; empty for the servers of the system. */
  constructor(servers: readonly string[]) {
    this.#servers = servers
  }

  /** Looks up both families, of which one is enough; rejects with a failure where neither is found. */
  ask(name: string): Promise<DnsAnswer> {
    return this.#queue.run('new', () => this.#ask(name))
  }

  /** Cancels every query, and starts no more. */
  close(): void {
    this.#isClosed = true
    this.#resolver?.cancel()
  }

  async #ask(name: string): Promise<DnsAnswer> {
    if (this.#isClosed) throw cancelled
    // One for all queries at a time, and no longer: the servers of the system may have changed, and its sockets close with it.
    const resolver = (this.#resolver ??= this.#open())
    this.#asking++
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ])
    if (--this.#asking === 0) this.#resolver = null
    const records = [v4, v6].flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (records.length === 0) throw failureOf(v4) ?? failureOf(v6) ?? nothingThere
    return {
      addresses: records.map(({ address }) => address),
      ttl: Math.min(...records.map(({ ttl }) => ttl)),
    }
  }

  #open(): Resolver {
    const resolver = new Resolver({ timeout: patience, maxTimeout: patience, tries: tries })
    if (this.#servers.length > 0) resolver.setServers(this.#servers)
    return resolver
  }
}

const cancelled: Cause = { code: 'ECANCELLED' }

/** The failure for an alias that leads nowhere, which c-ares does not report as one. */
const nothingThere: Cause = { code: 'ENODATA' }

/** Returns why one family failed; that it has no records is not the reason while the other family may have another. */
function failureOf(answer: PromiseSettledResult<unknown>): Cause | null {
  if (answer.status === 'fulfilled') return null
  const failure = answer.reason as Cause
  return failure.code === nothingThere.code ? null : failure
}
