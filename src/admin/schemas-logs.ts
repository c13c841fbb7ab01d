// What the log entries of AI gateways look like. operations-logs.ts and schemas-named.ts use it.

import { about, flag, type Members, number, open, orNull, type Schema, text, time, whole } from './schemas.ts'

const ray: Schema = { ...text, pattern: '^[0-9a-f]{16}$' }

const summary: Members = {
  id: about('The ray id of the call.', ray),
  created_at: time,
  provider: text,
  model: about('Null where neither request nor answer named one.', orNull(text)),
  path: about('The path at the provider, without query.', text),
  status_code: whole(100, 999),
  success: about('Whether the provider answered with 2xx and the caller got all of it.', flag),
  error: about('The name of the error, where the gateway answered itself.', orNull(text)),
  duration: about('In ms.', { ...number, minimum: 0 }),
  time_to_first_byte: about('In ms.', orNull({ ...number, minimum: 0 })),
  tokens_in: orNull(whole(0)),
  tokens_out: orNull(whole(0)),
  cost: about('In US dollars.', orNull({ ...number, minimum: 0 })),
  cached: flag,
  authentication: about('Whether the call came with a token that was checked.', flag),
  streamed: flag,
  metadata: about('What the caller said of the call: an object, as JSON in a text.', orNull(text)),
  request_content_type: orNull(text),
  response_content_type: orNull(text),
}

/** An entry as lists show it. */
export const logSummary = open(summary)

export const logEntry = open(summary, {
  request_head: about('The beginning of the body that was sent, where it was kept.', text),
  request_head_complete: about('Whether that is all of it.', flag),
  response_head: about('The beginning of the body that was answered, where it was kept.', text),
  response_head_complete: about('Whether that is all of it.', flag),
})
