// The members of a pool, and which of them a request goes to: one that is healthy, by the balance that the operator chose.

import type { Clock } from '../base/clock.ts'
import type { PoolConfig } from '../config/model/config.ts'
import type { BalanceConfig } from '../config/model/pool-config.ts'
import type { Asking, Balance, Candidate } from './candidate.ts'
import type { MemberHealth } from './health.ts'
import { LeastOutstanding } from './least-outstanding.ts'
import { hashOf, Rendezvous } from './rendezvous.ts'
import { RetryBudget } from './retry-budget.ts'
import { RoundRobin } from './round-robin.ts'

/** What a member leads to. */
export interface Reached {
  /** Requests that it has not yet answered. */
  readonly outstanding: number
}

export class Member<Target extends Reached> implements Candidate {
  readonly target: Target
  readonly weight: number
  readonly health: MemberHealth
  readonly seed: number

  /** Takes a name that is the same in all processes. */
  constructor(target: Target, name: string, weight: number, health: MemberHealth) {
    this.target = target
    this.weight = weight
    this.health = health
    this.seed = hashOf(name)
  }

  get share(): number {
    return this.health.share
  }

  get outstanding(): number {
    return this.target.outstanding
  }
}

export class Pool<Target extends Reached> {
  readonly name: string
  readonly members: readonly Member<Target>[]
  /** Further attempts that one request may have, and how many all of them together. */
  readonly mostRetries: number
  readonly budget: RetryBudget
  /** Statuses in place of which another member is asked. */
  readonly retryOn: ReadonlySet<number>
  /** Statuses that count as failures of the member. */
  readonly ejectOn: ReadonlySet<number>
  /** Lives for as long as a pool that counts in it. */
  readonly ledger: PoolLedger
  readonly #balance: Balance

  constructor(
    { name, retries, retryOn, ejectOn }: Pick<PoolConfig, 'name' | 'retries' | 'retryOn' | 'ejectOn'>,
    members: readonly Member<Target>[],
    ledger: PoolLedger,
  ) {
    const { budget, balance } = ledger
    this.ledger = ledger
    this.name = name
    this.members = members
    this.mostRetries = retries.most
    this.budget = budget
    this.retryOn = new Set(retryOn)
    this.ejectOn = new Set(ejectOn)
    this.#balance = balance
  }

  /** Returns the member that a request is for; null when none is healthy. Its health is to be told when the request goes there, and how it went. */
  pick(request: Asking): Member<Target> | null {
    this.budget.earn()
    return this.pickAnother(request, none)
  }

  /** The same where the request is bound to a member, as far as that is healthy. */
  pickBound(request: Asking, isBoundTo: (target: Target) => boolean): Member<Target> | null {
    const bound = this.members.find(({ share, target }) => share > 0 && isBoundTo(target))
    if (bound === undefined) return this.pick(request)
    this.budget.earn()
    return bound
  }

  /** Returns a member beside those that were tried; null when no other is healthy. */
  pickAnother(request: Asking, tried: readonly Member<Target>[]): Member<Target> | null {
    return this.#balance.choose(this.members, request, tried)
  }

  /** Whether requests go on as usual to anybody beside this member. */
  hasAnother({ health }: Member<Target>): boolean {
    return this.members.some(other => other.health !== health && other.health.isServing)
  }

  /** Returns in how many seconds, 1 or more, a pool without a healthy member may have one: at the next check or the next trial. */
  get secondsUntilHope(): number {
    let least = Number.POSITIVE_INFINITY
    for (const { health } of this.members) least = Math.min(least, health.msUntilHope)
    return Math.max(1, Math.ceil(least / 1000))
  }
}

/** What a pool has counted: whose turn it is, and how many retries are left. It may outlive the pool, where one with the same members and settings follows. */
export class PoolLedger {
  readonly budget: RetryBudget
  readonly balance: Balance

  constructor(budget: RetryBudget, balance: Balance) {
    this.budget = budget
    this.balance = balance
  }

  /** Returns one that has counted the same, and whose counts leave this one as it is. */
  copy(): PoolLedger {
    return new PoolLedger(this.budget.copy(), this.balance.copy())
  }
}

/** Makes the ledger of a pool of so many members that has counted nothing. */
export function newLedger(
  { balance, retries }: Pick<PoolConfig, 'balance' | 'retries'>,
  count: number,
  clock: Clock,
): PoolLedger {
  return new PoolLedger(new RetryBudget(retries.budget, clock), balanceOf(balance, count))
}

const none: readonly never[] = []

function balanceOf(config: BalanceConfig, count: number): Balance {
  if (count < 2) return new OnlyOne()
  if (config.by === 'hash') return new Rendezvous(config.header)
  return config.by === 'round_robin' ? new RoundRobin(count) : new LeastOutstanding(count)
}

/** Spares a pool of one member the choice. */
class OnlyOne implements Balance {
  copy(): this {
    return this
  }

  choose<C extends Candidate>(
    candidates: readonly C[],
    _request: Asking,
    tried: readonly Candidate[],
  ): C | null {
    return candidates.length === 1 && tried.length === 0 && candidates[0]!.share > 0 ? candidates[0]! : null
  }
}
