// Adds the providers of an account to those of the configuration, for calls that may name one.

import type { AccountProviders } from '../../ai/providers/custom-directory.ts'
import type { Providers } from '../../ai/providers/providers.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'

export function providersOf(x: Exchange, ai: AiExchange): Providers {
  return ai.ownProviders ?? x.snapshot.ai!.providers
}

/** Continues once the providers of the account are known, if the name, or a dynamic route, may be of one. */
export function withOwnProviders<Outcome>(
  x: Exchange,
  ai: AiExchange,
  name: string,
  next: () => MaybeAtOnce<Outcome>,
): MaybeAtOnce<Outcome | Refusal> {
  if (!name.startsWith('custom-') && !name.startsWith('dynamic/')) return next()
  const accountProviders = x.plane.ai!.custom.of(ai.gateway!.account)
  return accountProviders instanceof Promise
    ? accountProviders.then(providers => take(x, ai, providers, next))
    : take(x, ai, accountProviders, next)
}

function take<Outcome>(
  x: Exchange,
  ai: AiExchange,
  accountProviders: AccountProviders | 'store_unreachable',
  next: () => MaybeAtOnce<Outcome>,
): MaybeAtOnce<Outcome | Refusal> {
  if (accountProviders === 'store_unreachable') return storeUnreachable
  add(x, ai, accountProviders)
  return next()
}

/** Adds the providers of the account, or none of them while the store is unreachable. */
export async function addOwnProviders(x: Exchange, ai: AiExchange): Promise<void> {
  const accountProviders = await x.plane.ai!.custom.of(ai.gateway!.account)
  if (accountProviders !== 'store_unreachable') add(x, ai, accountProviders)
}

function add(x: Exchange, ai: AiExchange, accountProviders: AccountProviders): void {
  if (accountProviders.providers.length > 0) ai.ownProviders = x.snapshot.ai!.withOwn(accountProviders)
}

const storeUnreachable = refuse('service_unavailable')
