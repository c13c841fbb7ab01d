// Looks up the TXT records of a host.

import { Resolver } from 'node:dns/promises'
import type { DnsAnswer, DnsOutcome } from '../store/records/oauth-client.ts'
import { challengePrefix } from './challenge.ts'
import { TxtQuery } from './txt-query.ts'

interface TxtLookupOptions {
  /** IP addresses, each with a port unless it is 53; empty for the resolvers of the system. */
  readonly resolvers: readonly string[]
  /** The maximum duration of a lookup, in ms. */
  readonly timeout: number
}

interface Question {
  readonly host: string
  query: TxtQuery | null
  isOver: boolean
  readonly settle: (result: readonly string[] | DnsOutcome) => void
}

/** The maximum number of concurrent queries: resolvers drop bursts. */
const maxConcurrent = 16
/** How many times each resolver is queried. */
const tries = 2

/** How much of the records is kept. */
const maxRecords = 10
const maxRecordLength = 255

export class TxtLookup {
  readonly #resolvers: readonly string[]
  readonly #timeout: number
  readonly #waiting = new Set<Question>()
  readonly #questions = new Set<Question>()
  #isClosed = false

  /** Throws if a resolver is not an IP address. */
  constructor({ resolvers, timeout }: TxtLookupOptions) {
    serversOf(resolvers)
    this.#resolvers = resolvers
    this.#timeout = timeout
  }

  /**
   * Checks whether one of the TXT records of the host equals the text exactly; never rejects. `now` becomes
   * the time of the result.
   */
  async ask(host: string, text: string, now: number): Promise<DnsAnswer> {
    if (this.#isClosed) return { at: now, outcome: 'error', records: [] }
    const { promise, resolve: settle } = Promise.withResolvers<readonly string[] | DnsOutcome>()
    const question: Question = { host, query: null, isOver: false, settle }
    const timer = setTimeout(() => this.#end(question, 'timeout'), this.#timeout)
    this.#waiting.add(question)
    this.#askNext()
    const result = await promise
    clearTimeout(timer)
    return {
      at: now,
      ...(typeof result === 'string' ? { outcome: result, records: [] } : judge(result, text)),
    }
  }

  /** Cancels all lookups: their outcome is `error`, as is that of every later lookup. */
  close(): void {
    this.#isClosed = true
    for (const question of [...this.#waiting, ...this.#questions]) this.#end(question, 'error')
  }

  #askNext(): void {
    for (const question of this.#waiting) {
      if (this.#questions.size >= maxConcurrent) return
      this.#waiting.delete(question)
      this.#questions.add(question)
      void this.#send(question)
    }
  }

  async #send(question: Question): Promise<void> {
    question.settle(await this.#askAll(question))
    this.#questions.delete(question)
    this.#askNext()
  }

  /** Queries one resolver after the other until one has a result. */
  async #askAll(question: Question): Promise<readonly string[] | DnsOutcome> {
    const servers = serversOf(this.#resolvers)
    const timeout = Math.max(1, Math.floor(this.#timeout / (tries * servers.length)))
    let outcome: DnsOutcome = 'error'
    for (const server of servers) {
      if (question.isOver) break
      question.query = new TxtQuery(server, question.host, { timeout, tries })
      const result = await question.query.result
      if (typeof result !== 'string') return result
      outcome = result
      if (outcome === 'no_records' || outcome === 'no_such_name') break
    }
    return outcome
  }

  #end(question: Question, outcome: DnsOutcome): void {
    question.settle(outcome)
    question.isOver = true
    this.#waiting.delete(question)
    question.query?.cancel()
  }
}

/** Returns resolvers in Node's format, by default the system's; throws unless all are IP addresses. */
function serversOf(resolvers: readonly string[]): readonly string[] {
  const node = new Resolver()
  if (resolvers.length > 0) node.setServers(resolvers)
  return node.getServers()
}

function judge(texts: readonly string[], text: string): Pick<DnsAnswer, 'outcome' | 'records'> {
  if (texts.length === 0) return { outcome: 'no_records', records: [] }
  return { outcome: texts.includes(text) ? 'found' : 'no_match', records: displayable(texts) }
}

/** Puts records meant for this gateway first, and removes characters that a page could not display. */
function displayable(texts: readonly string[]): string[] {
  const ours = texts.filter(text => text.includes(challengePrefix))
  const others = texts.filter(text => !text.includes(challengePrefix))
  return [...ours, ...others]
    .slice(0, maxRecords)
    .map(text => text.slice(0, maxRecordLength).replace(/[\0-\x1f\x7f-\x9f\xad]/g, '\ufffd'))
}
