// What the origins of a zone look like in responses.

import { about, flag, listOf, number, oneOf, open, orNull, text, time, whole } from '../openapi/schemas.ts'
import { originStates } from './zones.ts'

const check = open({
  is_up: flag,
  since: time,
  next_check_at: time,
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
    '`down` by active checks, `ejected` after failures, in `trial` while one request decides.',
    oneOf(originStates),
  ),
  consecutive_failures: whole(0),
  ejected_until: orNull(time),
  outstanding: about('Requests queued for it.', whole(0)),
  check: about('The result of the last active check.', orNull(check)),
})

export const pool = open({
  pool: text,
  routes: about('The route paths that lead to it.', listOf(text)),
  origins: listOf(origin),
})
