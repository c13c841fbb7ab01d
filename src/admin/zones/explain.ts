// The handler that explains what would happen to a request. Nothing is sent, counted or kept.

import { faultAt } from '../../errors/catalogue/api-faults.ts'
import { type Permission, permits } from '../../permissions/permit.ts'
import type { RateLimitConfig } from '../../config/model/limit-config.ts'
import type { DecidingRule, ExplainedStep, Explanation } from '../../zones/explanation.ts'
import { type ApiResponse, failure, failures, success, withHeaders } from '../http/envelope.ts'
import type { Api, ZoneCall } from '../api/api-types.ts'
import { readQuestion } from './explain-body.ts'
import { oldestOf } from '../api/zone-owner.ts'

export async function explainRequest(call: ZoneCall, { store, zones }: Api): Promise<ApiResponse> {
  const { zone, account, body } = call
  const request = readQuestion(body)
  if (!('target' in request)) return failures(request)
  const explained = await zones.explain({ ...request, zone: zone.name, account })
  if (explained === null) return withHeaders(failure('not_serving'), { 'retry-after': '1' })
  if ('explanation' in explained) {
    const isOldest = account === (await oldestOf(store.accounts))
    const others = isOldest ? [] : zones.ofAll().rateLimits
    return success(shownTo(call, explained.explanation, others))
  }
  return failures([
    explained.elsewhere === 'zone'
      ? faultAt('/host', 'invalid', 'host', `must lead to the zone ${zone.name}, or to none`)
      : faultAt('/path', 'invalid', 'path', 'must name the account that owns the zone'),
  ])
}

/**
 * Leaves out what the token may not see elsewhere. The verdict of a limit stays, since any client learns it;
 * its use does not: for limits over all zones (`others`), it includes the traffic of other accounts.
 */
function shownTo(
  { caller, account }: ZoneCall,
  explanation: Explanation,
  others: readonly RateLimitConfig[],
): Explanation {
  const may = (permission: Permission) => permits(caller, permission, account)
  const [seesZones, seesGateways] = [may('Zones Read'), may('AI Gateway Read')]
  const names = new Set(others.map(({ name }) => name))
  const isSeen = (kind: string) => (kind === 'gateway_rate_limit' ? seesGateways : seesZones)
  const isHidden: Hides = ({ kind, name }) =>
    limitKinds.has(kind) && (!isSeen(kind) || (kind === 'rate_limit' && names.has(name ?? '')))
  const { response } = explanation
  const seen = withoutUse(seesGateways ? explanation : withoutSpending(explanation), isHidden)
  return {
    ...seen,
    limits: seen.limits.filter(({ kind }) => isSeen(kind)),
    ...(!may('Origins Read') && { pool: null, forward: null }),
    ...(!seesGateways && { gateway: null }),
    ...(!seesZones && { route: null, compression: null }),
    response: response && { ...seen.response!, content: may('Custom Errors Read') ? response.content : null },
  }
}

type Hides = (limit: { readonly kind: string; readonly name: string | null }) => boolean

const limitKinds: ReadonlySet<string> = new Set<DecidingRule['kind']>([
  'rate_limit',
  'quota',
  'gateway_rate_limit',
])

function withoutUse(explanation: Explanation, isHidden: Hides): Explanation {
  const hidden = explanation.limits.filter(isHidden)
  const names = new Set(hidden.map(({ name }) => name))
  const decides = explanation.steps.some(({ rule }) => rule !== null && isHidden(rule))
  const { response } = explanation
  return {
    ...explanation,
    limits: explanation.limits.map(limit => (hidden.includes(limit) ? { ...limit, ...unknownUse } : limit)),
    steps: explanation.steps.map(step => (isMeter(step) ? stepWithoutUse(step, names, isHidden) : step)),
    response: response && decides ? { ...response, retry_after: null } : response,
  }
}

/** How much a gateway has spent is not for all who may ask whether it would be called. */
function withoutSpending(explanation: Explanation): Explanation {
  const { steps, response } = explanation
  if (!steps.some(isSpent)) return explanation
  return {
    ...explanation,
    steps: steps.map(step =>
      isSpent(step)
        ? { ...step, reason: 'Over a spend limit.', error: step.error && { ...step.error, message: null } }
        : step,
    ),
    response: response && { ...response, retry_after: null },
  }
}

function isSpent({ step, verdict }: ExplainedStep): boolean {
  return step === 'reserve' && verdict === 'refuses'
}

function isMeter({ step }: ExplainedStep): boolean {
  return step === 'meter' || step === 'meterGateway'
}

const unknownUse = { used: null, left: null, resets_in: null }

function stepWithoutUse(step: ExplainedStep, names: ReadonlySet<string>, isHidden: Hides): ExplainedStep {
  const { rule, reason, compared } = step
  return {
    ...step,
    reason: rule !== null && isHidden(rule) ? `Over the limit ${rule.name}.` : reason,
    compared: compared.map(one => (names.has(one.what) ? { ...one, value: null } : one)),
  }
}
