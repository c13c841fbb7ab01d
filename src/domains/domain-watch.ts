// Sees to it that DNS is asked for every domain that waits for its proof. Each gateway has one, none leads: what is due is handed out by the store, to one
// of them at a time, and again after the lease when that one is gone. Started by the process.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import type { Counts } from '../metrics/counts.ts'
import type { DnsAnswer, DomainVerification, OAuthClient } from '../store/oauth-client.ts'
import { type Store, StoreUnreachable, type Versioned } from '../store/store.ts'
import { afterAnswer, counts } from './attempt.ts'
import { challengeText } from './challenge.ts'
import type { TxtLookup } from './txt-lookup.ts'

interface DomainWatchOptions {
  readonly store: Store
  /** Is closed with the watch. */
  readonly lookup: TxtLookup
  readonly log: Logger
  /** Counts what DNS said. */
  readonly metrics?: Counts['domainChecks']
  readonly clock?: Clock
  /** Ms between two looks at what is due. */
  readonly period?: number
}

/** Lookups under way at once. */
const mostAtOnce = 16
/** Ms until what this process took is handed out again, unless it says in between that it is still at it: who asks again after a crash waits no longer. */
const lease = 4_000
const renewal = 1_000

export class DomainWatch {
  readonly #store: Store
  readonly #lookup: TxtLookup
  readonly #log: Logger
  readonly #metrics: Counts['domainChecks'] | null
  readonly #clock: Clock
  readonly #period: number
  readonly #running = new Set<Promise<void>>()
  /** What those that run are for. */
  readonly #held = new Set<OAuthClient>()
  #timer: NodeJS.Timeout | null = null
  #renewer: NodeJS.Timeout | null = null
  #unfollow: (() => void) | null = null
  /** A look at what is due that is under way, and whether there is reason for another one. */
  #looking: Promise<void> | null = null
  #isLookDue = false
  /** Whether the store failed last: the log is told of an outage once. */
  #isFailing = false
  #isClosed = false

  constructor({ store, lookup, log, metrics, clock = systemClock, period = 1_000 }: DomainWatchOptions) {
    this.#store = store
    this.#lookup = lookup
    this.#log = log
    this.#metrics = metrics ?? null
    this.#clock = clock
    this.#period = period
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), this.#period).unref()
    this.#renewer = setInterval(() => void this.#renew(), renewal).unref()
    // A client that was just written is asked for at once, while its owner looks on.
    this.#unfollow = this.#store.changes.follow(({ kind }) => {
      if (kind === 'oauth_client') this.#look()
    })
    this.#look()
  }

  /** Asks no more, and lets go of what is under way; of that another process takes care after the lease. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearInterval(this.#timer)
    if (this.#renewer) clearInterval(this.#renewer)
    this.#unfollow?.()
    this.#lookup.close()
    await this.#looking
    await Promise.all(this.#running)
  }

  #look(): void {
    this.#isLookDue = true
    if (this.#mayLook()) this.#looking ??= this.#lookOn()
  }

  #mayLook(): boolean {
    return this.#isLookDue && !this.#isClosed && this.#running.size < mostAtOnce
  }

  async #lookOn(): Promise<void> {
    while (this.#mayLook()) {
      this.#isLookDue = false
      await this.#claim(mostAtOnce - this.#running.size)
    }
    this.#looking = null
  }

  async #claim(limit: number): Promise<void> {
    try {
      const due = await this.#store.oauthClients.claimDue(limit, lease)
      this.#succeed()
      if (this.#isClosed) return
      this.#isLookDue ||= due.length === limit
      for (const client of due) this.#run(client)
    } catch (failure) {
      this.#fail(failure)
    }
  }

  /** Keeps others from what takes its time here. */
  async #renew(): Promise<void> {
    if (this.#held.size === 0) return
    try {
      await this.#store.oauthClients.renewLeases([...this.#held], lease)
    } catch (failure) {
      this.#fail(failure)
    }
  }

  #run(client: Versioned<OAuthClient>): void {
    this.#held.add(client.record)
    const running = this.#attend(client).then(() => {
      this.#running.delete(running)
      this.#held.delete(client.record)
      if (this.#isLookDue) this.#look()
    })
    this.#running.add(running)
  }

  async #attend(claimed: Versioned<OAuthClient>): Promise<void> {
    const { account, id, verification } = claimed.record
    if (verification === null || verification.nextCheckAt === null) return
    try {
      const answer = await this.#lookup.ask(verification.host, challengeText(verification), this.#clock.now())
      // Of a lookup that the end cut short nobody knows what DNS would have said.
      if (this.#isClosed && answer.outcome !== 'found') return
      this.#metrics?.[answer.outcome].inc()
      await this.#keep(claimed, verification, answer)
      this.#succeed()
    } catch (failure) {
      if (failure instanceof StoreUnreachable) this.#fail(failure)
      else this.#log.error({ err: failure, account, client: id }, 'domain check failed: internal error')
    }
  }

  /** Writes what an answer changes; what others wrote meanwhile stays, and may make it meaningless. */
  async #keep(claimed: Versioned<OAuthClient>, asked: DomainVerification, answer: DnsAnswer): Promise<void> {
    const { account, id } = claimed.record
    let current: Versioned<OAuthClient> | null = claimed
    while (current !== null) {
      const { record, version }: Versioned<OAuthClient> = current
      if (!counts(record.verification, asked, answer)) return
      const next = afterAnswer(record, record.verification!, answer, this.#clock.now())
      if (await this.#store.oauthClients.replace(next, version)) return this.#tell(next)
      current = await this.#store.oauthClients.get(account, id)
    }
  }

  #tell({ account, id, verification }: OAuthClient): void {
    const { host, status, checks, lastAnswer } = verification!
    const facts = { account, client: id, host, checks }
    if (status === 'verified') this.#log.info(facts, 'domain verified')
    if (status === 'failed')
      this.#log.info(
        { ...facts, outcome: lastAnswer!.outcome },
        'domain verification failed: not proven in time',
      )
  }

  #fail(failure: unknown): void {
    if (this.#isFailing) return
    this.#isFailing = true
    if (failure instanceof StoreUnreachable)
      this.#log.warn({ reason: failure.reason }, 'domain checks paused: store unreachable')
    else this.#log.error({ err: failure }, 'domain checks paused: reading the due domains failed')
  }

  #succeed(): void {
    if (this.#isFailing) this.#log.info('domain checks resumed')
    this.#isFailing = false
  }
}
