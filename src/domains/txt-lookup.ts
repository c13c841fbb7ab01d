// Looks up the TXT records of a host.

import { Resolver } from 'node:dns/promises'
import type { DnsAnswer, DnsOutcome } from '../store/oauth-client.ts'
import { challengePrefix } from './challenge.ts'

interface TxtLookupOptions {
  /** IP addresses, each with a port where it is not 53; empty: the resolvers of the system. */
  readonly resolvers: readonly string[]
  /** Ms after which a lookup ends in any case. */
  readonly timeout: number
}

interface Question {
  readonly host: string
  /** The resolver that is being queried. */
  resolver: Resolver | null
  isOver: boolean
  readonly settle: (found: readonly string[] | DnsOutcome) => void
}

/** Queries under way at once: resolvers drop bursts. */
const mostAtOnce = 16
/** How many times each resolver is queried. */
const tries = 2

/** How much of the found records is kept. */
const mostRecords = 10
const longestRecord = 255

export class TxtLookup {
  readonly #resolvers: readonly string[]
  readonly #timeout: number
  readonly #waiting = new Set<Question>()
  readonly #asked = new Set<Question>()
  #isClosed = false

  /** Throws where a resolver is not an IP address. */
  constructor({ resolvers, timeout }: TxtLookupOptions) {
    new Resolver().setServers(resolvers)
    this.#resolvers = resolvers
    this.#timeout = timeout
  }

  /** Checks whether one of the TXT records of the host equals the text exactly; never rejects. `now` becomes the time of the result. */
  async ask(host: string, text: string, now: number): Promise<DnsAnswer> {
    if (this.#isClosed) return { at: now, outcome: 'error', records: [] }
    const { promise, resolve: settle } = Promise.withResolvers<readonly string[] | DnsOutcome>()
    const question: Question = { host, resolver: null, isOver: false, settle }
    const timer = setTimeout(() => this.#end(question, 'timeout'), this.#timeout)
    this.#waiting.add(question)
    this.#askNext()
    const found = await promise
    clearTimeout(timer)
    return { at: now, ...(typeof found === 'string' ? { outcome: found, records: [] } : judge(found, text)) }
  }

  /** Ends what is under way: its outcome is `error`, as is that of every later lookup. */
  close(): void {
    this.#isClosed = true
    for (const question of [...this.#waiting, ...this.#asked]) this.#end(question, 'error')
  }

  #askNext(): void {
    for (const question of this.#waiting) {
      if (this.#asked.size >= mostAtOnce) return
      this.#waiting.delete(question)
      this.#asked.add(question)
      void this.#send(question)
    }
  }

  async #send(question: Question): Promise<void> {
    question.settle(await this.#askAll(question))
    this.#asked.delete(question)
    this.#askNext()
  }

  /** Queries one resolver after the other until one has a result; Node itself takes the first reply, even a failure. */
  async #askAll(question: Question): Promise<readonly string[] | DnsOutcome> {
    let outcome: DnsOutcome = 'error'
    for (const server of this.#resolvers.length > 0 ? this.#resolvers : [null]) {
      if (question.isOver) break
      try {
        // One per query, since `cancel` of a resolver cancels all of its queries.
        question.resolver = this.#resolver(server)
        const records = await question.resolver.resolveTxt(question.host)
        return records.map(chunks => chunks.join(''))
      } catch (failure) {
        outcome = outcomeOf(failure)
        if (outcome === 'no_records' || outcome === 'no_such_name') break
      }
    }
    return outcome
  }

  /** Makes a resolver that queries one server, or those of the system, within its share of the time. */
  #resolver(server: string | null): Resolver {
    const count = this.#resolvers.length || new Resolver().getServers().length
    const timeout = Math.max(1, Math.floor(this.#timeout / (tries * count)))
    const resolver = new Resolver({ timeout, maxTimeout: timeout, tries })
    // Those of the system are left as they are: Node cannot name one on a local link.
    if (server !== null) resolver.setServers([server])
    return resolver
  }

  #end(question: Question, outcome: DnsOutcome): void {
    question.settle(outcome)
    question.isOver = true
    this.#waiting.delete(question)
    question.resolver?.cancel()
  }
}

function judge(texts: readonly string[], text: string): Pick<DnsAnswer, 'outcome' | 'records'> {
  if (texts.length === 0) return { outcome: 'no_records', records: [] }
  return { outcome: texts.includes(text) ? 'found' : 'no_match', records: shown(texts) }
}

/** Puts records meant for this gateway first, and removes what a page could not display. */
function shown(texts: readonly string[]): string[] {
  const ours = texts.filter(text => text.includes(challengePrefix))
  const others = texts.filter(text => !text.includes(challengePrefix))
  return [...ours, ...others]
    .slice(0, mostRecords)
    .map(text => text.slice(0, longestRecord).replace(/[\0-\x1f\x7f-\x9f\xad]/g, '\ufffd'))
}

const outcomes: Readonly<Record<string, DnsOutcome>> = {
  ENODATA: 'no_records',
  ENOTFOUND: 'no_such_name',
  ESERVFAIL: 'server_failure',
  EREFUSED: 'refused',
  ETIMEOUT: 'timeout',
}

function outcomeOf(failure: unknown): DnsOutcome {
  return outcomes[(failure as NodeJS.ErrnoException).code ?? ''] ?? 'error'
}
