// Schemas of AI gateways, in requests and in responses.

import type { GatewayRateLimit, LogStrategy } from '../../store/records/records.ts'
import { backoffs, maxDelay } from '../../ai/failover/after-failure.ts'
import { maxAttempts } from '../../ai/failover/controls.ts'
import { maxTtl, minTtl } from '../../answers/controls.ts'
import { maxNear } from '../../limits/near-keys.ts'
import { nearKey } from '../zones/rate-limit-schemas.ts'
import { guard, shownGuard } from '../guard/schemas.ts'
import { shownSpendLimits, spendLimits } from '../spend-limits/schemas.ts'
import { cacheScopes, longestInterval, maxMaxTokens, maxUnpricedCost, maxCalls, notBuilt } from './body.ts'
import {
  about,
  closed,
  exactly,
  flag,
  listOf,
  type Members,
  number,
  oneOf,
  open,
  orNull,
  type Schema,
  text,
  time,
  whole,
} from '../schema/schema.ts'

const id: Schema = { ...text, pattern: '^[a-z0-9_-]{1,64}$' }
const strategy = oneOf(['DELETE_OLDEST', 'STOP_INSERTING'] satisfies LogStrategy[])

const limitKey = oneOf(['gateway', 'token', 'app'])
const technique = oneOf(['fixed', 'sliding'] satisfies GatewayRateLimit['technique'][])
const attempts = whole(1, maxAttempts)
const delay = whole(0, maxDelay)
const backoff = oneOf(backoffs)
const onAbandon = oneOf(['abort', 'drain'])
const maxTokens = whole(1, maxMaxTokens)
const cacheTtl: Schema = { ...whole(0, maxTtl), anyOf: [{ maximum: 0 }, { minimum: minTtl }] }
const cacheScope = oneOf(cacheScopes)
const unpricedCost: Schema = { ...number, exclusiveMinimum: 0, maximum: maxUnpricedCost }

const settings: Members = {
  authentication: about('Whether calls need a token with permission to run models.', flag),
  byok_only: about(
    'Whether calls may use only keys of their callers and of the provider configs; false by default.',
    orNull(flag),
  ),
  collect_logs: about('Whether the bodies of calls are stored.', flag),
  log_management: about(
    'The maximum number of log entries; 100,000 by default.',
    orNull(whole(0, 10_000_000)),
  ),
  log_management_strategy: about('What happens when that number is reached.', orNull(strategy)),
  rate_limiting_limit: about(
    'How many calls are allowed per interval; unlimited if unset or 0.',
    orNull(whole(0, maxCalls)),
  ),
  rate_limiting_interval: about(
    'The interval in seconds; at least 1 if there is a limit.',
    orNull(whole(0, longestInterval)),
  ),
  rate_limiting_key: about(
    'What is counted separately: `gateway`, all calls together, which is the default; `token`, each token; `app`, each OAuth client with all its users, and each API token. Calls without a token count together.',
    orNull(limitKey),
  ),
  rate_limiting_technique: about(
    'Whether intervals are consecutive (fixed) or each call counts for one interval (sliding); fixed by default.',
    orNull(technique),
  ),
  retry_max_attempts: about(
    'How often a model that callers name themselves is tried; once by default. An alias has its own retries.',
    orNull(attempts),
  ),
  retry_delay: about('Ms before another attempt at the same model; 200 by default.', orNull(delay)),
  retry_backoff: about('How that delay grows; exponential by default.', orNull(backoff)),
  on_abandon: about(
    'What happens when a caller leaves: `abort` (the default) cuts its provider off; `drain` reads the response to its end, so that its usage is exact.',
    orNull(onAbandon),
  ),
  stream_usage: about(
    'Whether to request usage for streamed chat completions, for the log and for callers of Messages; true by default.',
    orNull(flag),
  ),
  spend_limits: about(
    'What calls may cost, use and hold open, by rules that must all admit a call; no limits by default.',
    spendLimits('gateway'),
  ),
  default_max_tokens: about(
    'The output tokens of calls that name no maximum, while a spend limit governs them; 4,096 by default.',
    orNull(maxTokens),
  ),
  unpriced_cost: about(
    'What a call to a model without a price costs, in USD. By default, such calls are refused while a limit of the cost governs them.',
    orNull(unpricedCost),
  ),
  cache_ttl: about(
    'Seconds for which a response is reused for calls that equal its own; 0, the default, for none but those that ask for it.',
    orNull(cacheTtl),
  ),
  cache_invalidate_on_update: about(
    'Whether a change of the settings discards all responses before it; false by default.',
    orNull(flag),
  ),
  cache_scope: about(
    'Whose calls reuse the same responses: `token`, those of one API token, or of one user of an app, which is the default; `app`, those of one OAuth client with all its users, or of one API token; `shared`, all calls of the gateway.',
    orNull(cacheScope),
  ),
  dlp: about(
    'What is looked for in requests and responses, and what happens to it; nothing by default.',
    guard,
  ),
  idempotency_keys: about(
    'Whether a call may have an `Idempotency-Key`: it is then made once, and a repeated one gets its response. False by default: the field is passed on to the provider.',
    orNull(flag),
  ),
}

/** Settings of published clients that this gateway lacks: only values that turn them off are accepted. */
const unsupported: Members = Object.fromEntries(
  Object.entries(notBuilt).map(([name, off]) => [name, oneOf([...new Set([off, null])])]),
)

const shownOnly: Members = {
  is_default: about('As responses show it.'),
  created_at: about('As responses show it; read-only.'),
  modified_at: about('As responses show it; set by the server.'),
}

/** The body of a new gateway. */
export const newGateway = closed({ id }, { ...settings, ...unsupported })

/** The body that replaces all settings. */
export const changedGateway = closed(
  {},
  { id: about('The id in the path.', id), ...settings, ...unsupported, ...shownOnly },
)

export const gateway = open({
  id,
  authentication: flag,
  byok_only: flag,
  collect_logs: flag,
  log_management: whole(0),
  log_management_strategy: strategy,
  rate_limiting_limit: whole(0),
  rate_limiting_interval: whole(0),
  rate_limiting_key: limitKey,
  rate_limiting_technique: orNull(technique),
  retry_max_attempts: orNull(attempts),
  retry_delay: orNull(delay),
  retry_backoff: orNull(backoff),
  on_abandon: onAbandon,
  stream_usage: flag,
  spend_limits: orNull(shownSpendLimits),
  default_max_tokens: maxTokens,
  unpriced_cost: orNull(unpricedCost),
  cache_ttl: cacheTtl,
  cache_invalidate_on_update: flag,
  cache_scope: cacheScope,
  dlp: orNull(shownGuard),
  idempotency_keys: flag,
  ...Object.fromEntries(Object.entries(notBuilt).map(([name, off]) => [name, exactly(off)])),
  is_default: about('Whether calls that name no gateway use it.', flag),
  created_at: time,
  modified_at: time,
})

export const gatewayRateLimit = open({
  name: about('As in RateLimit fields.', text),
  limit: whole(1),
  window: technique,
  period: about('Seconds.', whole(1)),
  key: about('What calls are counted by; nothing for all together.', listOf(oneOf(['token', 'app']))),
  nearest: about(
    'The keys with the most use: a `token_id`, an `app`, or nothing for calls without either.',
    listOf(nearKey, 0, maxNear),
  ),
})

const size: Members = {
  entries: about('How many they are.', whole(0)),
  bytes: about('What they take, sealed.', whole(0)),
}

/** What was deleted. */
export const storedSize = open(size)

export const storedResponses = open({
  ...size,
  emptied_at: about('When they were deleted last; null for never.', orNull(time)),
  since: about('The beginning of the hours whose calls are counted.', time),
  is_complete: about('Whether all these calls are counted already.', flag),
  count: about('Calls that are in the logs.', whole(0)),
  count_cached: about('Those whose response was that of another one.', whole(0)),
})
