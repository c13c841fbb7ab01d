// What caller and gateway say about the reuse of responses for a call.

import { type CacheControls, readKey, readSkip, readTtl } from '../../answers/controls.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { Gateway } from '../../store/records/records.ts'
import type { AiExchange } from './ai-exchange.ts'
import { readOnce } from './read-once.ts'

/** Seconds for calls with a key of their caller, if nobody sets a time. */
const ttlOfOwnKey = 300

type Call = Pick<AiExchange, 'fields'> & { readonly gateway: Pick<Gateway, 'cacheTtl'> | null }

/** Null if responses are not reused. Refuses a value out of its bounds (400). */
export function cacheControlsOf({ fields, gateway }: Call): CacheControls | null | Refusal {
  const ttlOfGateway = gateway!.cacheTtl ?? 0
  if (!fields.hasCacheControls) return ttlOfGateway === 0 ? null : usual(ttlOfGateway)
  const ttl = readOnce('svc-aig-cache-ttl', fields.cacheTtl, readTtl)
  const isSkipped = readOnce('svc-aig-skip-cache', fields.skipCache, readSkip)
  const key = readOnce('svc-aig-cache-key', fields.cacheKey, readKey)
  for (const reading of [ttl, isSkipped, key])
    if (typeof reading === 'object' && reading !== null) return reading
  const [time, own] = [ttl as number | null, key as string | null]
  const seconds = time ?? (ttlOfGateway === 0 && own !== null ? ttlOfOwnKey : ttlOfGateway)
  return seconds === 0 ? null : { ttl: seconds, isSkipped: isSkipped === true, key: own }
}

function usual(ttl: number): CacheControls {
  return { ttl, isSkipped: false, key: null }
}
