// Decides what is stored of an AI call in the log of its gateway.

import { isGoverned } from '../../budgets/buckets.ts'
import { hasPolicyLimits } from '../../budgets/policies/compile.ts'
import { parseCustomCost } from '../../ai-logs/custom-cost.ts'
import { compiledGuard } from '../../guard/compiled-guard.ts'
import type { Reading } from '../../base/text/quantity.ts'
import { parseMetadata } from '../../ai-logs/metadata.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { isRead, type Once, repeated } from '../ai-call/request-fields.ts'
import { Tap } from '../ai-call/tap.ts'
import { cacheControlsOf } from '../ai-call/cache-controls.ts'
import { readIdempotencyKey } from '../ai-call/idempotency-key.ts'
import { controlsOf } from './begin-course.ts'

/** Refuses unknown fields for the gateway (400), since the client may rely on them. */
export function openLog(x: Exchange): Refusal | null {
  const { ai } = x
  if (ai === null) return null
  const { gatewayId, collectLog, collectLogPayload, contentEncoding, unknown } = ai.fields
  if (unknown !== null) return badField(unknown, 'is not supported by this gateway')
  if (ai.target.api !== 'rest' && gatewayId !== null && gatewayId !== ai.target.gateway)
    return badField('svc-aig-gateway-id', 'must name the gateway in the path, or be left out')
  if (!isOptionalBoolean(collectLog))
    return badField('svc-aig-collect-log', 'must be true or false, and given once')
  if (!isOptionalBoolean(collectLogPayload))
    return badField('svc-aig-collect-log-payload', 'must be true or false, and given once')
  const controls = controlsOf(ai)
  if ('error' in controls) return controls
  ai.controls = controls
  const cacheControls = cacheControlsOf(ai)
  if (cacheControls !== null && 'error' in cacheControls) return cacheControls
  ai.cacheControls = cacheControls
  const unusable = readIdempotencyKey(x.head, ai)
  if (unusable !== null) return unusable
  const { logManagement, collectLogs, guard } = ai.gateway!
  if (guard != null) ai.guard = compiledGuard(guard)
  const keepsPayloads = collectLogs && collectLogPayload !== 'false'
  // Only a native body can be encoded: others are parsed here.
  if (logManagement > 0 && collectLog !== 'false')
    x.tap = new Tap({ keepsPayloads, isEncoded: contentEncoding !== null })
  else if (isMetered(x, ai)) x.tap = measuringTap(ai)
  return noteLabels(ai, x.tap)
}

/** Measures what a call uses, although it has no entry in the log. */
export function measuringTap({ fields }: AiExchange): Tap {
  return new Tap({ keepsPayloads: false, isEncoded: fields.contentEncoding !== null, isStored: false })
}

/** Whether limits of gateway, token, policies or its route may govern a call, and it may cost something. */
export function isMetered(x: Exchange, ai: AiExchange): boolean {
  const hasRate = ai.course !== null && ai.course.passed !== null
  if (!hasRate && !isGoverned(ai.gateway!, ai.token) && !hasPolicyLimits(ai.gateway!)) return false
  return x.upgrade === 'requested' || !isRead(x.head)
}

/** Notes what the caller says about its call; `tap` is null if it has no entry. */
function noteLabels(ai: AiExchange, tap: Tap | null): Refusal | null {
  const { metadata, eventId, customCost } = ai.fields
  if (metadata === null && eventId === null && customCost === null) return null
  const note = <T>(
    name: string,
    field: Once,
    parse: (text: string) => Reading<T>,
    keep: (value: T) => void,
  ) => {
    if (field === null) return null
    if (field === repeated) return badField(name, 'must be given once')
    const reading = parse(field)
    if ('flaw' in reading) return badField(name, reading.flaw)
    keep(reading.value)
    return null
  }
  return (
    note('svc-aig-metadata', metadata, parseMetadata, value => (ai.metadata = value)) ??
    note('svc-aig-event-id', eventId, parseEventId, value => tap && (tap.eventId = value)) ??
    note('svc-aig-custom-cost', customCost, parseCustomCost, value => tap && (tap.customCost = value))
  )
}

function parseEventId(text: string): Reading<string> {
  return /^[!-~]{1,128}$/.test(text) ? { value: text } : { flaw: 'must be 1 to 128 visible ASCII characters' }
}

function isOptionalBoolean(value: Once): boolean {
  return value === null || value === 'true' || value === 'false'
}

function badField(name: string, rule: string): Refusal {
  return refuseCall('invalid', name, rule)
}
