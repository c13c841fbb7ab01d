// The members of a pool, and the choice of a healthy one for each request, by the balance that the operator
// configured.

import type { Clock } from '../base/clock.ts'
import type { PoolConfig } from '../config/model/config.ts'
import type { BalanceConfig } from '../config/model/pool-config.ts'
import type { ChoiceRequest, Balance, Candidate } from './candidate.ts'
import type { MemberHealth } from './health.ts'
import { LeastOutstanding } from './least-outstanding.ts'
import { hashOf, Rendezvous } from './rendezvous.ts'
import { RetryBudget } from './retry-budget.ts'
import { RoundRobin } from './round-robin.ts'

export interface MemberTarget {
  readonly outstanding: number
}

export class Member<Target extends MemberTarget> implements Candidate {
  readonly target: Target
  readonly weight: number
  readonly health: MemberHealth
  readonly seed: number

  /** `name` must be the same in all processes. */
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

export class Pool<Target extends MemberTarget> {
  readonly name: string
  readonly members: readonly Member<Target>[]
  /** The maximum number of retries of one request, and the budget of all together. */
  readonly maxRetries: number
  readonly budget: RetryBudget
  /** Statuses that lead to a retry with another member. */
  readonly retryOn: ReadonlySet<number>
  /** Statuses that count as failures of the member. */
  readonly ejectOn: ReadonlySet<number>
  /** Shared by all pools that continue the same counts. */
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
    this.maxRetries = retries.most
    this.budget = budget
    this.retryOn = new Set(retryOn)
    this.ejectOn = new Set(ejectOn)
    this.#balance = balance
  }

  /**
   * Chooses the member for a request; null if none is healthy. The caller must report to its health when the
   * request is sent, and how it ended.
   */
  pick(request: ChoiceRequest): Member<Target> | null {
    this.budget.earn()
    return this.pickAnother(request, none)
  }

  /** Like `pick`, for a request that is bound to a member, as long as that one is healthy. */
  pickBound(request: ChoiceRequest, isBoundTo: (target: Target) => boolean): Member<Target> | null {
    const bound = this.members.find(({ share, target }) => share > 0 && isBoundTo(target))
    if (bound === undefined) return this.pick(request)
    this.budget.earn()
    return bound
  }

  /** Chooses a member that has not been tried; null if no other is healthy. */
  pickAnother(request: ChoiceRequest, tried: readonly Member<Target>[]): Member<Target> | null {
    return this.#balance.choose(this.members, request, tried)
  }

  /** Whether any other member is serving requests as usual. */
  hasAnother({ health }: Member<Target>): boolean {
    return this.members.some(other => other.health !== health && other.health.isServing)
  }

  /** Seconds, at least 1, until a member may be healthy again, by the next check or trial. */
  get secondsUntilHope(): number {
    let minWait = Number.POSITIVE_INFINITY
    for (const { health } of this.members) minWait = Math.min(minWait, health.msUntilHope)
    return Math.max(1, Math.ceil(minWait / 1000))
  }
}

/**
 * The state of a pool's choices: whose turn it is, and the remaining retries. It outlives the pool if one
 * with the same members and settings follows.
 */
export class PoolLedger {
  readonly budget: RetryBudget
  readonly balance: Balance

  constructor(budget: RetryBudget, balance: Balance) {
    this.budget = budget
    this.balance = balance
  }

  copy(): PoolLedger {
    return new PoolLedger(this.budget.copy(), this.balance.copy())
  }
}

/** Makes the ledger of a new pool with `count` members. */
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

/** For a pool of one member, which needs no choice. */
class OnlyOne implements Balance {
  copy(): this {
    return this
  }

  choose<C extends Candidate>(
    candidates: readonly C[],
    _request: ChoiceRequest,
    tried: readonly Candidate[],
  ): C | null {
    return candidates.length === 1 && tried.length === 0 && candidates[0]!.share > 0 ? candidates[0]! : null
  }
}
