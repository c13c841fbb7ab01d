// Looks up the addresses of names in DNS, with their TTL.

import { Resolver } from 'node:dns/promises'
import { LookupQueue } from './lookup-queue.ts'
import type { Cause } from '../../errors/catalogue/origin-failure.ts'

/** The seconds for which all of the addresses are valid. */
interface DnsAnswer {
  readonly addresses: readonly string[]
  readonly ttl: number
}

const timeout = 2_000
const tries = 2
/** With two queries each. */
const maxNames = 32

export class DnsQuestions {
  readonly #servers: readonly string[]
  readonly #queue = new LookupQueue(maxNames)
  #resolver: Resolver | null = null
  #running = 0
  #isClosed = false

  /** IP addresses with or without a port; none means the servers of the system. */
  constructor(servers: readonly string[]) {
    this.#servers = servers
  }

  /** One family is enough; rejects with a failure if neither has records. */
  resolve(name: string): Promise<DnsAnswer> {
    return this.#queue.run('new', () => this.#resolve(name))
  }

  close(): void {
    this.#isClosed = true
    this.#resolver?.cancel()
  }

  async #resolve(name: string): Promise<DnsAnswer> {
    if (this.#isClosed) throw cancelled
    // Not kept for longer: the servers of the system may change, and its sockets close with it.
    const resolver = (this.#resolver ??= this.#open())
    this.#running++
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ])
    if (--this.#running === 0) this.#resolver = null
    const records = [v4, v6].flatMap(result => (result.status === 'fulfilled' ? result.value : []))
    if (records.length === 0) throw failureOf(v4) ?? failureOf(v6) ?? noRecords
    return {
      addresses: records.map(({ address }) => address),
      ttl: Math.min(...records.map(({ ttl }) => ttl)),
    }
  }

  #open(): Resolver {
    const resolver = new Resolver({ timeout: timeout, maxTimeout: timeout, tries: tries })
    if (this.#servers.length > 0) resolver.setServers(this.#servers)
    return resolver
  }
}

const cancelled: Cause = { code: 'ECANCELLED' }

/** An alias that leads nowhere, which c-ares does not report as a failure. */
const noRecords: Cause = { code: 'ENODATA' }

/** Null if the family has no records, since the other may have failed for another reason. */
function failureOf(result: PromiseSettledResult<unknown>): Cause | null {
  if (result.status === 'fulfilled') return null
  const failure = result.reason as Cause
  return failure.code === noRecords.code ? null : failure
}
