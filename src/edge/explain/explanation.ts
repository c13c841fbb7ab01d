// The explanation of a rehearsed request.

import { holdsOurs } from '../../tokens/misplaced-tokens.ts'
import type { ExplainedGateway, Explanation } from '../../zones/explanation.ts'
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
  }
}
