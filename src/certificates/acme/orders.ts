// Obtains and renews certificates, without a leader: a gateway writes itself into the record of a host.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleepFor } from 'node:timers/promises'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { visible } from '../../base/text/visible.ts'
import type { AcmeConfig } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import { acmeOwner, type HostCertificate } from '../../store/records/acme.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { Certificate } from '../../tls/certificate.ts'
import { Accounts, UnreadableKey } from './account.ts'
import { obtain } from './attempt.ts'
import { AcmeProblem, type Authority, type AuthorityAccount } from './authority.ts'
import { certificateId } from './certificate-id.ts'
import type { KnownCertificates } from './known-certificates.ts'
import { Lease, LeaseLost } from './lease.ts'
import { afterInfo, afterSilence, bounded, maxWait, pauseAfter, renewalOf, restOf } from './schedule.ts'
import { isDue } from './certificate-state.ts'

export type OrderResult = 'issued' | 'refused' | 'rate_limited' | 'unreachable'

interface CertificateOrdersOptions {
  readonly store: Store
  readonly secrets: SecretKeys
  readonly certificates: KnownCertificates
  readonly log: Logger
  readonly connect: (config: AcmeConfig, account: AuthorityAccount) => Promise<Authority>
  /** Resolves when the other processes of this machine know what is known here. */
  readonly shared: () => Promise<void>
  readonly ended?: (result: OrderResult) => void
  readonly clock?: Clock
  readonly random?: () => number
  /** Ms between two checks for due certificates. */
  readonly period?: number
  /** Ms until every machine knows of a challenge. */
  readonly hearing?: number
}

/** A start with many hosts must neither take hours nor exceed the limits of an authority. */
const maxConcurrent = 4
/** Ms without requests for any host to an authority that is down, or asks for a pause. */
const firstRest = 60_000
const maxRest = 15 * 60_000
const maxMessageLength = 500

export class CertificateOrders {
  readonly #options: Required<CertificateOrdersOptions>
  readonly #accounts: Accounts
  readonly #holder = randomUUID()
  readonly #running = new Map<string, Promise<void>>()
  readonly #end = new AbortController()
  #config: AcmeConfig | null = null
  #timer: NodeJS.Timeout | null = null
  /** In ms since the epoch. */
  #restUntil = 0
  #isFailing = false

  constructor(options: CertificateOrdersOptions) {
    const { clock = systemClock, random = Math.random, period = 2_000, ended = () => {} } = options
    // SQLite is read every 200 ms, and a lost notification of Redis delays a change by at most 5 s.
    const hearing = options.hearing ?? (options.store.location.startsWith('sqlite:') ? 500 : 5_500)
    this.#options = { ...options, clock, random, period, ended, hearing }
    const { store, secrets, connect } = options
    this.#accounts = new Accounts({ records: store.acmeAccounts, secrets, clock, connect })
  }

  /** Replaces the previous configuration; null for none. */
  follow(config: AcmeConfig | null): void {
    this.#config = config
    this.#restUntil = 0
    this.#timer ??= setInterval(() => this.check(), this.#options.period).unref()
    this.check()
  }

  check(): void {
    const { certificates } = this.#options
    if (this.#config === null || this.#end.signal.aborted || !certificates.isRead) return
    const due = this.#config.hosts.filter(host => !this.#running.has(host) && this.#taskOf(host) !== null)
    for (const host of due.slice(0, maxConcurrent - this.#running.size)) this.#run(host, this.#config)
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Abandons the current attempts, so that another process continues at once. */
  async close(): Promise<void> {
    this.#end.abort()
    if (this.#timer) clearInterval(this.#timer)
    this.#accounts.close()
    await this.idle()
  }

  #taskOf(host: string): 'order' | 'ask' | null {
    const { certificates, clock } = this.#options
    const now = clock.now()
    if (this.#config === null || restOf(this.#restUntil, now) > now) return null
    const stored = certificates.get(host)
    if (stored === null) return 'order'
    const { record, key } = stored
    const { restUntil, renewal, issued, lease, requestedAt } = record
    if (lease !== null && !certificates.isAbandoned(stored)) return null
    // A gateway with another key has obtained it, and the two would order alternately.
    if (issued !== null && key === null && requestedAt === null) return null
    if (isDue(record, this.#config.directory, now)) return restOf(restUntil, now) <= now ? 'order' : null
    return renewal !== null && renewal.askAt <= now ? 'ask' : null
  }

  #run(host: string, config: AcmeConfig): void {
    // An attempt that ended at once would otherwise be repeated at once.
    const running = this.#attend(host, config).then(() => void this.#running.delete(host))
    this.#running.set(host, running)
  }

  /** Never rejects. */
  async #attend(host: string, config: AcmeConfig): Promise<void> {
    const { log, certificates } = this.#options
    let lease: Lease | null = null
    try {
      this.#restFrom(config, await this.#accounts.restUntil(config))
      lease = await this.#take(host)
      if (lease === null) return
      await this.#work(lease, config)
      this.#succeed()
    } catch (failure) {
      lease?.abandon()
      if (failure instanceof StoreUnreachable) this.#fail(failure)
      else if (!(failure instanceof LeaseLost))
        log.error({ err: failure, host }, 'certificate order failed: internal error')
    } finally {
      await certificates.refresh(host).catch(() => {})
    }
  }

  async #take(host: string): Promise<Lease | null> {
    const { store, clock, certificates } = this.#options
    if (certificates.get(host) === null) await store.certificates.insert(newRecord(host, clock.now()))
    await certificates.refresh(host)
    const stored = certificates.get(host)
    if (stored === null || this.#taskOf(host) === null) return null
    return Lease.take(store.certificates, stored, this.#holder)
  }

  async #work(lease: Lease, config: AcmeConfig): Promise<void> {
    const { clock, log } = this.#options
    const { record } = lease
    try {
      const authority = await this.#accounts.open(config, record.requestedAt !== null)
      if (isDue(record, config.directory, clock.now())) await this.#order(lease, authority, config)
      else await this.#askRenewal(lease, authority)
      await this.#accounts.note(config, () => ({ restUntil: null, failures: 0 }))
    } catch (failure) {
      if (this.#isInterrupted(failure)) return lease.release()
      if (failure instanceof UnreadableKey) {
        log.error({ host: record.id }, failure.message)
        return this.#refuse(lease, failure.message, null)
      }
      if (isOfStore(failure)) throw failure
      if (!(failure instanceof AcmeProblem)) {
        log.error({ err: failure, host: record.id }, 'certificate order failed: internal error')
        // Retried as rarely as after any other failure.
        return this.#refuse(lease, 'internal error', null, true)
      }
      await this.#noteProblem(lease, failure, config)
    }
  }

  async #order(lease: Lease, authority: Authority, config: AcmeConfig): Promise<void> {
    const { secrets, clock, log, random, ended } = this.#options
    const host = lease.record.id
    const how = { renewal: lease.record.issued !== null, resumed: lease.record.order !== null }
    log.info({ host, directory: config.directory, ...how }, 'certificate order started')
    const issued = await obtain(lease, {
      authority,
      config,
      secrets,
      clock,
      published: () => this.#publish(host),
      sleep: ms => sleepFor(ms, undefined, { signal: this.#end.signal, ref: false }),
    })
    const certificate = new Certificate(issued.chain)
    const renewal = renewalOf(certificate, clock.now(), random)
    await lease.release({ issued, renewal, order: null, ...noFailure })
    ended('issued')
    log.info({ host, expires: new Date(certificate.notAfter).toISOString() }, 'certificate issued')
  }

  async #askRenewal(lease: Lease, authority: Authority): Promise<void> {
    const { clock, random, log } = this.#options
    const { issued, renewal, id } = lease.record
    const name = certificateId(issued!.chain)
    try {
      const info = name === null ? null : await authority.renewalInfo(name)
      const nextRenewal = afterInfo(renewal!, info, clock.now(), random)
      await lease.release({ renewal: bounded(nextRenewal, new Certificate(issued!.chain), issued!.issuedAt) })
    } catch (failure) {
      if (this.#isInterrupted(failure) || isOfStore(failure)) throw failure
      if (failure instanceof AcmeProblem)
        log.info(
          { host: id, reason: messageOf(failure) },
          'renewal window unknown: the authority did not say it',
        )
      else log.error({ err: failure, host: id }, 'asking for a renewal window failed: internal error')
      await lease.release({ renewal: afterSilence(renewal!, clock.now(), random) })
    }
  }

  #isInterrupted(failure: unknown): boolean {
    return this.#end.signal.aborted || (failure as Error).name === 'AbortError'
  }

  async #publish(host: string): Promise<void> {
    const { certificates, shared, hearing } = this.#options
    await certificates.refresh(host)
    await shared()
    await sleepFor(hearing, undefined, { signal: this.#end.signal, ref: false })
  }

  async #noteProblem(lease: Lease, problem: AcmeProblem, config: AcmeConfig): Promise<void> {
    const { clock, random, log, ended } = this.#options
    const { id: host, failures } = lease.record
    const result = problem.isRateLimit ? 'rate_limited' : problem.isOutage ? 'unreachable' : 'refused'
    const pause = Math.max(pauseAfter(failures + 1, random), Math.min(maxWait, problem.retryAfter ?? 0))
    const message = messageOf(problem)
    const next = new Date(clock.now() + pause).toISOString()
    log.warn({ host, reason: message, result, failures: failures + 1, next }, 'certificate order failed')
    ended(result)
    if (problem.type === 'accountDoesNotExist') await this.#accounts.forget(config)
    if (result !== 'refused') await this.#rest(config, problem)
    await this.#refuse(lease, message, pause, result === 'refused')
  }

  /** Keeps the order if the authority was only down. */
  #refuse(lease: Lease, message: string, pause: number | null, isOver = false): Promise<void> {
    const now = this.#options.clock.now()
    const { failures, order } = lease.record
    return lease.release({
      failures: failures + 1,
      restUntil: now + (pause ?? pauseAfter(failures + 1, this.#options.random)),
      lastError: { at: now, message },
      requestedAt: null,
      order: isOver ? null : order,
    })
  }

  /** In every process, and across restarts. */
  async #rest(config: AcmeConfig, { retryAfter }: AcmeProblem): Promise<void> {
    const now = this.#options.clock.now()
    await this.#accounts.note(config, ({ failures }) => {
      const pause = retryAfter ?? firstRest * 2 ** failures
      const restUntil = now + Math.min(maxRest, pause)
      this.#restFrom(config, restUntil)
      return { restUntil, failures: failures + 1 }
    })
  }

  /** An attempt may have begun before a reload, at another authority. */
  #restFrom(config: AcmeConfig, until: number): void {
    if (config === this.#config) this.#restUntil = until
  }

  #fail(failure: StoreUnreachable): void {
    if (!this.#isFailing)
      this.#options.log.warn({ reason: failure.reason }, `certificate orders paused: ${failure.state}`)
    this.#isFailing = true
  }

  #succeed(): void {
    if (this.#isFailing) this.#options.log.info('certificate orders resumed')
    this.#isFailing = false
  }
}

const noFailure = { failures: 0, restUntil: null, lastError: null, requestedAt: null } as const

function newRecord(host: string, now: number): HostCertificate {
  return {
    account: acmeOwner,
    id: host,
    createdAt: now,
    issued: null,
    order: null,
    renewal: null,
    lease: null,
    ...noFailure,
  }
}

function isOfStore(failure: unknown): boolean {
  return failure instanceof StoreUnreachable || failure instanceof LeaseLost
}

function messageOf({ message }: AcmeProblem): string {
  return visible(message.replaceAll(/\s+/g, ' ')).slice(0, maxMessageLength)
}
