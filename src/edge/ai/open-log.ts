// Decides what is stored of an AI call in the log of its gateway.

import { parseMetadata } from '../../ai-logs/metadata.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type Once, repeated } from '../ai-call/ai-fields.ts'
import { Tap } from '../ai-call/tap.ts'
import { controlsOf } from './begin-course.ts'

/** Refuses unknown fields for the gateway (400), since the client may rely on them. */
export function openLog(x: Exchange): Refusal | null {
  const { ai } = x
  if (ai === null) return null
  const { gatewayId, metadata, collectLog, collectLogPayload, contentEncoding, unknown } = ai.fields
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
  const { logManagement, collectLogs } = ai.gateway!
  const keepsPayloads = collectLogs && collectLogPayload !== 'false'
  // Only a native body can be encoded: others are parsed here.
  if (logManagement > 0 && collectLog !== 'false')
    x.tap = new Tap({ keepsPayloads, isEncoded: contentEncoding !== null })
  if (metadata === null) return null
  if (metadata === repeated) return badField('svc-aig-metadata', 'must be given once')
  const reading = parseMetadata(metadata)
  if ('flaw' in reading) return badField('svc-aig-metadata', reading.flaw)
  if (x.tap !== null) x.tap.metadata = reading.value
  return null
}

function isOptionalBoolean(value: Once): boolean {
  return value === null || value === 'true' || value === 'false'
}

function badField(name: string, rule: string): Refusal {
  return refuseCall('invalid', name, rule)
}
