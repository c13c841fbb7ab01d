// What decides on the way of an AI call along its route: chance, the facts about the call, and rates.

import type { Journey, PassedRate, RateNode } from '../../ai/failover/model-route.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { Spent } from '../../limits/key-count.ts'
import { type Limit, routeLimitOf } from '../../limits/limit.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { Scalar } from '../../store/records/model-route.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'

export class CallJourney implements Journey {
  /** The refusal of the last rate that the call was over; null if it was over none. */
  refusal: Refusal | null = null
  /** The last rate by cost that the call has passed; null if it has passed none. */
  passed: PassedRate | null
  readonly #x: Exchange
  readonly #ai: AiExchange
  readonly #mayWait: boolean

  /**
   * Goes on from the rates by cost that were passed before. Without `mayWait`, a call passes the rates about
   * which the store has to be queried first.
   */
  constructor(
    x: Exchange,
    ai: AiExchange,
    { mayWait, passed }: { readonly mayWait: boolean; readonly passed: PassedRate | null },
  ) {
    this.passed = passed
    this.#x = x
    this.#ai = ai
    this.#mayWait = mayWait
  }

  readonly draw = Math.random

  readonly facts = (fact: string): readonly Scalar[] => factOf(this.#ai, fact)

  spend(rate: RateNode, key: string): MaybeAtOnce<boolean> {
    const spent = this.#x.plane.limiter.spend(limitOf(rate), key)
    if (!(spent instanceof Promise)) return this.#conclude(spent)
    return this.#mayWait ? spent.then(spent => this.#conclude(spent)) : true
  }

  pass(rate: RateNode, key: string): void {
    this.passed = { rate, key, before: this.passed }
  }

  #conclude({ isAllowed, wait }: Spent): boolean {
    if (!isAllowed)
      this.refusal = refuse(
        'rate_limited',
        { retryAfter: secondsOf(wait) },
        { code: 'rate of a model route' },
      )
    return isAllowed
  }
}

const metadata = 'metadata.'

function factOf({ metadata: members, token }: AiExchange, fact: string): readonly Scalar[] {
  if (fact.startsWith(metadata)) {
    const name = fact.slice(metadata.length)
    return members !== null && Object.hasOwn(members, name) ? [members[name]!] : none
  }
  if (token === null) return none
  const person = token.actor ?? token.person
  if (fact === 'person') return person === undefined ? none : [person.user, person.email]
  if (fact === 'app') return token.actor === undefined ? none : [token.actor.client]
  return [token.actor?.grant ?? token.id]
}

const none: readonly Scalar[] = []

/** The limits by node: a changed route has new ones. */
const limits = new WeakMap<RateNode, Limit>()

function limitOf(rate: RateNode): Limit {
  const cachedLimit = limits.get(rate)
  if (cachedLimit !== undefined) return cachedLimit
  const limit = routeLimitOf(rate.name, rate.limit, rate.window)
  limits.set(rate, limit)
  return limit
}
