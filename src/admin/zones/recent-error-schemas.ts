// Schemas of a recent error in responses.

import { about, listOf, oneOf, open, orNull, text, time, whole } from '../schema/schema.ts'
import { maxOccurrences } from '../../store/records/tally.ts'

const occurrence = open({
  at: about('When the request began, as in the access log.', time),
  ray: about('The ray id, to find it in the log.', text),
  method: about('As the client wrote it, cut after 32 characters.', text),
  host: about('As the client wrote it, in lower case.', text),
  path: about('As the client wrote it, without query, cut after 300 characters.', text),
  status: about('0 if the client left before it got any.', whole(0, 999)),
  format: about(
    'The format of errors that the client prefers.',
    oneOf(['html', 'json', 'problem', 'markdown', 'plain']),
  ),
})

export const recentError = open({
  place: about(
    'Where it happened: `ai_host` is a request to an AI host without a known gateway, `unknown_host` one to a host of no zone.',
    oneOf(['zone', 'ai_gateway', 'ai_host', 'unknown_host']),
  ),
  zone: orNull(text),
  gateway_id: orNull(text),
  code: whole(0),
  name: about('Null for a code that this version does not know.', orNull(text)),
  title: orNull(text),
  count: about('In the hours that are shown.', whole(1)),
  last_at: time,
  hours: about(
    'By time, without those in which it did not happen.',
    listOf(open({ since: time, count: whole(1) }), 1, 25),
  ),
  occurrences: about(
    'The last ones, newest first. Of a flood, the first ones of its last second.',
    listOf(occurrence, 0, maxOccurrences),
  ),
})
