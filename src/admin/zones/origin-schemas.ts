// Schemas of the origins of a zone in responses.

import { about, flag, listOf, number, oneOf, open, orNull, text, time, whole } from '../schema/schema.ts'
import { originStates } from '../facts/zone-facts.ts'

const check = open({
  is_up: flag,
  since: time,
  next_check_at: time,
  last_check_at: about('When the last check began.', time),
  last_duration: about('How long it took, in ms.', { ...number, minimum: 0 }),
  last_status: orNull(whole(100, 999)),
  last_error: orNull(text),
})

const origin = open({
  url: text,
  weight: number,
  share: about('How much of the weight counts now: less during slow start.', {
    ...number,
    minimum: 0,
    maximum: 1,
  }),
  state: about(
    '`unchecked` before a check or a request has told, `failing` after failures in a row although requests still go to it, `down` by active checks, `ejected` after failures, in `trial` while one request decides.',
    oneOf(originStates),
  ),
  since: about('When it came to this state.', time),
  ejections: about('How often it was ejected, since the gateway started or got to know it.', whole(0)),
  consecutive_failures: about(
    'Failed requests since the last success, whether or not it is ejected for them.',
    whole(0),
  ),
  ejected_until: orNull(time),
  outstanding: about('Requests under way at it, or that wait for a connection.', whole(0)),
  connections: about('Open connections to it, also of other pools.', whole(0)),
  http2_connections: about('Those among them that speak HTTP/2.', whole(0)),
  queued: about('Requests that wait because it may have no more connections.', whole(0)),
  check: about('The result of the last active check.', orNull(check)),
})

export const pool = open({
  pool: text,
  routes: about('The route paths that lead to it.', listOf(text)),
  origins: listOf(origin),
})
