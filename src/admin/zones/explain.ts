// The handler that explains what would happen to a request. Nothing is sent, counted or kept.

import { faultAt } from '../../errors/api-faults.ts'
import { permits } from '../../permissions/permit.ts'
import type { RateLimitConfig } from '../../config/limit-config.ts'
import type { ExplainedStep, Explanation } from '../../zones/explanation.ts'
import { type ApiResponse, failure, failures, success, withHeaders } from '../envelope.ts'
import type { Api, ZoneCall } from '../row.ts'
import { readQuestion } from './explain-body.ts'
import { oldestOf } from './owner.ts'

export async function explainRequest(call: ZoneCall, { store, zones }: Api): Promise<ApiResponse> {
  const { zone, account, body } = call
  const request = readQuestion(body)
  if (!('target' in request)) return failures(request)
  const explained = await zones.explain({ ...request, zone: zone.name, account })
  if (explained === null) return withHeaders(failure('not_serving'), { 'retry-after': '1' })
  if ('explanation' in explained) {
    const isOldest = account === (await oldestOf(store.accounts))
    const shown = shownTo(call, explained.explanation)
    return success(isOldest ? shown : withoutOthers(shown, zones.ofAll().rateLimits))
  }
  return failures([
    explained.elsewhere === 'zone'
      ? faultAt('/host', 'invalid', 'host', `must lead to the zone ${zone.name}, or to none`)
      : faultAt('/path', 'invalid', 'path', 'must name the account that owns the zone'),
  ])
}

/** Leaves out what the token may not see elsewhere either: origins, and gateways. */
function shownTo({ caller, account }: ZoneCall, explanation: Explanation): Explanation {
  const seesOrigins = permits(caller, 'Origins Read', account)
  const seesGateways = permits(caller, 'AI Gateway Read', account)
  return {
    ...explanation,
    ...(!seesOrigins && { pool: null, forward: null }),
    ...(!seesGateways && { gateway: null }),
  }
}

/**
 * Leaves out how far limits of all zones are used: that is what others sent to other zones. What they decide stays, as any client learns it from the response. Whether a host
 * leads to another zone is no secret either: who sends it a request sees that; which zone, and whose, is never told.
 */
function withoutOthers(explanation: Explanation, ofAll: readonly RateLimitConfig[]): Explanation {
  const names = new Set(ofAll.map(({ name }) => name))
  const limits = explanation.limits.map(limit =>
    isShared(limit, names) ? { ...limit, ...unknownUse } : limit,
  )
  const decides = explanation.steps.some(({ rule }) => rule !== null && isShared(rule, names))
  const { response } = explanation
  return {
    ...explanation,
    limits,
    steps: explanation.steps.map(step => (step.step === 'meter' ? withoutUse(step, names) : step)),
    response: response && decides ? { ...response, retry_after: null } : response,
  }
}

const unknownUse = { used: null, left: null, resets_in: null }

function withoutUse(step: ExplainedStep, names: ReadonlySet<string>): ExplainedStep {
  const { rule, reason, compared } = step
  return {
    ...step,
    reason: rule !== null && isShared(rule, names) ? `Over the limit ${rule.name}.` : reason,
    compared: compared.map(one => (names.has(one.what) ? { ...one, value: null } : one)),
  }
}

function isShared(
  { kind, name }: { readonly kind: string; readonly name: string | null },
  names: ReadonlySet<string>,
): boolean {
  return kind === 'rate_limit' && name !== null && names.has(name)
}
