// The explanation of a rehearsed request.

import { holdsOurs } from '../../tokens/misplaced-tokens.ts'
import type { Policy } from '../../store/records/policy.ts'
import type { ExplainedGateway, ExplainedPolicies, Explanation } from '../../zones/explanation.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { factsOf } from '../exchange/facts.ts'
import { compressionOf } from './compression.ts'
import { forwardOf, poolOf, routeOf } from './forward.ts'
import { limitsOf } from './limits.ts'
import { explainStep } from './reasons.ts'
import type { Rehearsed } from './rehearsed.ts'
import { responseOf } from './response.ts'
import { steps } from '../serve/steps.ts'

/** Returns what would happen, without any value that may be secret. */
export function explanationOf(rehearsed: Rehearsed): Explanation {
  const { x, decisions } = rehearsed
  const { verdict } = decisions.at(-1)!
  const isPlanned = decisions.some(({ step }) => step === 'forward')
  return {
    outcome:
      verdict === null
        ? 'forwarded'
        : verdict === 'depends'
          ? 'depends'
          : verdict === 'responds'
            ? 'responded'
            : 'refused',
    zone: x.zone?.config.name ?? null,
    client: clientOf(x),
    steps: steps.map((step, i) => ({ number: i + 1, ...explainStep(step, rehearsed) })),
    limits: limitsOf(rehearsed),
    gateway: gatewayOf(x),
    route: routeOf(x),
    pool: poolOf(x),
    forward: isPlanned ? forwardOf(x) : null,
    compression: isPlanned ? compressionOf(x) : null,
    response: verdict === null || verdict === 'depends' ? null : responseOf(rehearsed),
  }
}

function clientOf(x: Exchange): Explanation['client'] {
  const { country, asn } = factsOf(x).request
  return {
    address: x.clientAddress,
    country: country || null,
    asn: asn || null,
    is_proxy: x.client.isTrusted,
  }
}

function gatewayOf({ ai }: Exchange): ExplainedGateway | null {
  if (ai === null) return null
  const { target, gateway, token, provider, model } = ai
  return {
    api: target.api,
    gateway: gateway?.id ?? null,
    authentication_required: gateway?.authentication ?? null,
    authenticated: token !== null,
    provider: provider?.name ?? null,
    model: model === null || holdsOurs(model) ? null : model,
    policies: policiesOf(ai),
  }
}

/** A call that none of its models may take has a denial alone. */
function policiesOf({ allowance, denial }: AiExchange): ExplainedPolicies | null {
  const decision = allowance ?? denial
  if (decision === null) return null
  return {
    decision: decision.type,
    policy: decision.type === 'no_match' ? null : shortOf(decision.policy),
    limits: allowance === null ? [] : allowance.limits.map(({ policy }) => limitOf(policy)),
  }
}

function limitOf(policy: Policy): ExplainedPolicies['limits'][number] {
  const { amount, period } = policy.action as Extract<Policy['action'], { type: 'limit' }>
  return { policy: shortOf(policy), amount, period }
}

function shortOf({ id, name }: Policy) {
  return { id, name }
}
