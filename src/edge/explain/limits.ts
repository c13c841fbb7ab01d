// The limits that would count a request: their keys, and what is left.

import type { LimitKey } from '../../config/model/limit-config.ts'
import type { LimitState } from '../../zones/explanation.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { redactedPath } from './redact.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'
import type { MeterRule } from '../snapshot/limit-rules.ts'
import type { Rehearsed } from './rehearsed.ts'
import type { LimitQuery } from './read-only-limiter.ts'

/** For a path with several readings, the state is that of the fullest. */
export function limitsOf({ x, limiter }: Rehearsed): readonly LimitState[] {
  const rules = rulesOf(x)
  return [...Map.groupBy(limiter.queries, ({ limit }) => limit)].flatMap(([limit, queries]) => {
    const rule = rules.find(rule => rule.limit === limit) ?? null
    const query = queries.toSorted(byLeft).find(({ spent }) => spent !== null)
    return query === undefined ? [] : [stateOf(x, rule, query)]
  })
}

function rulesOf({ route, zone }: Exchange): readonly MeterRule[] {
  const ofMessages = (route?.mcpRules?.rules ?? []).flatMap(({ rate }) => rate ?? [])
  return [...((route ?? zone)?.limits ?? []), ...ofMessages]
}

function byLeft(a: LimitQuery, b: LimitQuery): number {
  const leftOf = ({ spent }: LimitQuery) => (spent?.isAllowed ? spent.remaining + 1 : 0)
  return leftOf(a) - leftOf(b)
}

function stateOf(x: Exchange, rule: MeterRule | null, { limit, key, spent }: LimitQuery): LimitState {
  const { isAllowed, remaining, wait } = spent!
  const left = isAllowed ? remaining + 1 : 0
  return {
    kind: rule === null ? 'gateway_rate_limit' : limit.span.kind === 'sliding' ? 'rate_limit' : 'quota',
    name: rule?.name ?? x.ai!.gateway!.id,
    line: rule?.line ?? null,
    action: rule === null || rule.error !== null ? 'block' : 'log',
    verdict: isAllowed ? 'within' : 'over',
    key: rule === null ? [] : keyOf(rule.key, key),
    limit: limit.max,
    period: 'period' in limit.span ? `${limit.span.period / 1000} s` : limit.span.kind,
    used: limit.max - left,
    left,
    resets_in: secondsOf(wait),
  }
}

/** Shows addresses and paths, and nothing else that a client sent. */
function keyOf(parts: readonly LimitKey[], key: string): LimitState['key'] {
  const values = key.split('\n')
  return parts.map((part, i) => {
    const value = values[i] ?? ''
    const by = part.by === 'header' ? `header ${part.name}` : part.by
    if (part.by === 'path') return { by, value: redactedPath(value.replace(/^path /, '')) }
    // Without the token or field, requests are counted by address.
    return /^[\da-f.:/]+$/i.test(value) ? { by: 'address', value } : { by, value: null }
  })
}
