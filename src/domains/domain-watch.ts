// Checks DNS for every domain whose verification is pending. Each gateway runs one, without a leader: the
// store hands out each due verification to one of them at a time, and again after the lease if that one has
// stopped.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import type { Counts } from '../metrics/counters/counts.ts'
import type { DnsAnswer, DomainVerification, OAuthClient } from '../store/records/oauth-client.ts'
import { type Store, StoreUnreachable, type Versioned } from '../store/contract/store.ts'
import { afterAnswer, counts } from './attempt.ts'
import { challengeText } from './challenge.ts'
import type { TxtLookup } from './txt-lookup.ts'

interface DomainWatchOptions {
  readonly store: Store
  /** Closed together with the watch. */
  readonly lookup: TxtLookup
  readonly log: Logger
  readonly metrics?: Counts['domainChecks']
  readonly clock?: Clock
  /** Delay between two polls for due verifications, in ms. */
  readonly period?: number
}

/** The maximum number of concurrent lookups. */
const maxConcurrent = 16
/** Time until claimed verifications are handed out again without a renewal, in ms. */
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
  readonly #claimed = new Set<OAuthClient>()
  #timer: NodeJS.Timeout | null = null
  #renewer: NodeJS.Timeout | null = null
  #unfollow: (() => void) | null = null
  /** The current poll, and whether another one is needed. */
  #polling: Promise<void> | null = null
  #isLookDue = false
  /** Whether the store failed last time, so that an outage is logged once. */
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
    this.#timer = setInterval(() => this.#poll(), this.#period).unref()
    this.#renewer = setInterval(() => void this.#renew(), renewal).unref()
    // A client that was just written is checked at once, while its owner is watching.
    this.#unfollow = this.#store.changes.follow(({ kind }) => {
      if (kind === 'oauth_client') this.#poll()
    })
    this.#poll()
  }

  /** Starts no more checks and abandons the current ones; another process takes them over after the lease. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearInterval(this.#timer)
    if (this.#renewer) clearInterval(this.#renewer)
    this.#unfollow?.()
    this.#lookup.close()
    await this.#polling
    await Promise.all(this.#running)
  }

  #poll(): void {
    this.#isLookDue = true
    if (this.#mayLook()) this.#polling ??= this.#pollUntilDone()
  }

  #mayLook(): boolean {
    return this.#isLookDue && !this.#isClosed && this.#running.size < maxConcurrent
  }

  async #pollUntilDone(): Promise<void> {
    while (this.#mayLook()) {
      this.#isLookDue = false
      await this.#claim(maxConcurrent - this.#running.size)
    }
    this.#polling = null
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

  async #renew(): Promise<void> {
    if (this.#claimed.size === 0) return
    try {
      await this.#store.oauthClients.renewLeases([...this.#claimed], lease)
    } catch (failure) {
      this.#fail(failure)
    }
  }

  #run(client: Versioned<OAuthClient>): void {
    this.#claimed.add(client.record)
    const running = this.#attend(client).then(() => {
      this.#running.delete(running)
      this.#claimed.delete(client.record)
      if (this.#isLookDue) this.#poll()
    })
    this.#running.add(running)
  }

  async #attend(claimed: Versioned<OAuthClient>): Promise<void> {
    const { account, id, verification } = claimed.record
    if (verification === null || verification.nextCheckAt === null) return
    try {
      const answer = await this.#lookup.ask(verification.host, challengeText(verification), this.#clock.now())
      // The result of a cancelled lookup is unknown.
      if (this.#isClosed && answer.outcome !== 'found') return
      this.#metrics?.[answer.outcome].inc()
      await this.#keep(claimed, verification, answer)
      this.#succeed()
    } catch (failure) {
      if (failure instanceof StoreUnreachable) this.#fail(failure)
      else this.#log.error({ err: failure, account, client: id }, 'domain check failed: internal error')
    }
  }

  /** Writes the change that follows from a result, unless concurrent changes invalidate it. */
  async #keep(
    claimed: Versioned<OAuthClient>,
    checked: DomainVerification,
    answer: DnsAnswer,
  ): Promise<void> {
    const { account, id } = claimed.record
    let current: Versioned<OAuthClient> | null = claimed
    while (current !== null) {
      const { record, version }: Versioned<OAuthClient> = current
      if (!counts(record.verification, checked, answer)) return
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
      this.#log.warn({ reason: failure.reason }, `domain checks paused: ${failure.state}`)
    else this.#log.error({ err: failure }, 'domain checks paused: reading the due domains failed')
  }

  #succeed(): void {
    if (this.#isFailing) this.#log.info('domain checks resumed')
    this.#isFailing = false
  }
}
