// The addresses of one origin's name, refreshed in the background.

import type { Clock } from '../../base/clock.ts'
import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import type { TransportConfig } from '../../config/model/pool-config.ts'
import { guarded } from '../../base/guarded.ts'
import type { NameAnswer, NameLookup } from './name-lookup.ts'
import { type Failure, failureOf } from '../../errors/catalogue/origin-failure.ts'

/** Between lookups: the default and the maximum with a TTL, and the minimum. */
const maxInterval = 30_000
const minInterval = 1_000
const retryInterval = 5_000
/** Ms before overdue addresses are not used without a lookup. */
const maxDelay = 30_000

export interface LookupWaiter {
  resolved(): void
  unresolved(failure: Failure): void
}

interface AddressBookParts {
  readonly name: string
  readonly dns: TransportConfig['dns']
  readonly lookup: NameLookup
  readonly clock: Clock
  readonly metrics: EdgeMetrics
  readonly changed: () => void
  readonly crashed: (bug: unknown) => void
}

export class AddressBook {
  readonly #parts: AddressBookParts
  readonly #waiters = new Set<LookupWaiter>()
  #addresses: readonly string[] = []
  #rotation = 0
  readonly #failed = new Set<string>()
  #isLookingUp = false
  /** Monotonic ms of the next lookup, and of dropping the addresses of a name that vanished. */
  #dueAt = 0
  #endsAt = Number.POSITIVE_INFINITY

  constructor(parts: AddressBookParts) {
    this.#parts = parts
  }

  get addresses(): readonly string[] {
    return this.#addresses
  }

  /** Empty if they are unknown, or too old to use without a lookup. */
  inTurn(): readonly string[] {
    this.refresh()
    return this.#parts.clock.monotonic() < this.#freshUntil ? this.#rotated() : none
  }

  get hasOld(): boolean {
    return this.#addresses.length > 0 && !this.#isTooOld(this.#parts.clock.monotonic())
  }

  oldInTurn(): readonly string[] {
    return this.hasOld ? this.#rotated() : none
  }

  lookUp(waiter: LookupWaiter): void {
    this.#waiters.add(waiter)
    this.#startLookup()
  }

  cancel(waiter: LookupWaiter): void {
    this.#waiters.delete(waiter)
  }

  /** Until the next lookup. */
  noteFailure(address: string): void {
    this.#failed.add(address)
  }

  refresh(): void {
    if (this.#addresses.length === 0) return
    const now = this.#parts.clock.monotonic()
    if (now >= this.#endsAt) this.#replace(none)
    else if (now >= this.#dueAt) this.#startLookup()
  }

  get #freshUntil(): number {
    return this.#dueAt + maxDelay
  }

  #isTooOld(now: number): boolean {
    return now >= Math.min(this.#endsAt, this.#freshUntil + this.#parts.dns.keep)
  }

  #rotated(): readonly string[] {
    const all = this.#addresses
    if (all.length < 2) return all
    const first = this.#rotation++ % all.length
    const rotated = [...all.slice(first), ...all.slice(0, first)]
    if (this.#failed.size === 0) return rotated
    return rotated.toSorted((a, b) => Number(this.#failed.has(a)) - Number(this.#failed.has(b)))
  }

  #startLookup(): void {
    if (this.#isLookingUp) return
    this.#isLookingUp = true
    const { lookup, name } = this.#parts
    const settled = (answer: NameAnswer | Failure) => {
      this.#isLookingUp = false
      if ('addresses' in answer) this.#resolved(answer)
      else this.#unresolved(answer)
    }
    void lookup.lookUp(name).then(guarded(settled, bug => this.#crashed(bug)))
  }

  #crashed(bug: unknown): void {
    this.#parts.crashed(bug)
    for (const waiter of this.#takeWaiters()) waiter.unresolved(failureOf(bug))
  }

  #resolved({ addresses, ttl }: NameAnswer): void {
    const { clock, dns, metrics } = this.#parts
    metrics.originLookups.found.inc()
    const now = clock.monotonic()
    this.#failed.clear()
    this.#endsAt = Number.POSITIVE_INFINITY
    this.#dueAt = now + (dns.refresh || maxInterval)
    if (dns.refresh === 0) void ttl().then(seconds => this.#setDueAt(now, seconds))
    this.#replace(addresses)
    for (const waiter of this.#takeWaiters()) waiter.resolved()
  }

  #setDueAt(since: number, ttl: number | null): void {
    if (ttl !== null) this.#dueAt = since + Math.min(Math.max(ttl * 1000, minInterval), maxInterval)
  }

  /** An unreachable server says nothing about the name. */
  #unresolved(failure: Failure): void {
    const { clock, dns, metrics } = this.#parts
    metrics.originLookups.failed.inc()
    const now = clock.monotonic()
    // The name may have vanished at any time since the last lookup.
    if (failure.way === 'name_vanished')
      this.#endsAt = Math.min(this.#endsAt, Math.min(now, this.#freshUntil) + dns.keep)
    const isLost = this.#addresses.length === 0 || this.#isTooOld(now)
    if (isLost) this.#replace(none)
    this.#dueAt = now + retryInterval
    for (const waiter of this.#takeWaiters()) isLost ? waiter.unresolved(failure) : waiter.resolved()
  }

  #takeWaiters(): LookupWaiter[] {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    return waiters
  }

  #replace(addresses: readonly string[]): void {
    const previous = this.#addresses
    this.#addresses = addresses
    const isSame =
      previous.length === addresses.length && addresses.every(address => previous.includes(address))
    if (!isSame) this.#parts.changed()
  }
}

const none: readonly string[] = []
