// Schemas of rate limits and quotas in responses.

import { about, listOf, number, oneOf, open, orNull, text, whole } from '../schema/schema.ts'
import { maxNear } from '../../limits/near-keys.ts'

export const nearKey = open({
  key: listOf(
    open({
      by: about('`address`, `token`, `app`, `token_id`, `path`, or `header` and its name.', text),
      value: about(
        'Of tokens and of headers that may be secret, the last 4 characters; null for a long value.',
        orNull(text),
      ),
    }),
  ),
  used: about('What was counted in the window, by all processes.', whole(0)),
  remaining: whole(0),
  reset: about('Seconds until one more fits, or until nothing that was counted counts any more.', whole(0)),
})

export const rateLimit = open({
  kind: oneOf(['rate_limit', 'quota']),
  name: about('As in RateLimit fields, metrics and logs.', text),
  applies_to: oneOf(['all_zones', 'zone', 'route']),
  route: about('The path of the route.', orNull(text)),
  limit: whole(0),
  window: about('A sliding one, or the day or month of UTC.', oneOf(['sliding', 'day', 'month'])),
  period: about('Seconds of a sliding window.', orNull({ ...number, exclusiveMinimum: 0 })),
  key: about('What requests are counted by; nothing for all together.', listOf(text)),
  when: about('The condition (CEL) on requests that count.', orNull(text)),
  action: oneOf(['block', 'log']),
  over_last_hour: about(
    'Requests of this zone over it in the last hour, counted from full ten minutes: refused, or logged with `log`.',
    whole(0),
  ),
  nearest: about(
    'The keys with the most use. Null for a limit of all zones, unless the oldest account owns the zone: they may be clients of others.',
    orNull(listOf(nearKey, 0, maxNear)),
  ),
})
