// What the log entries of AI gateways look like.

import {
  about,
  exactly,
  flag,
  listOf,
  type Members,
  number,
  open,
  orNull,
  type Schema,
  text,
  time,
  whole,
} from '../openapi/schemas.ts'

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
  token_id: about('The token that made the call; null where the gateway asked for none.', orNull(text)),
  token_name: about('Its name at that time.', orNull(text)),
  streamed: flag,
  metadata: about('What the caller said of the call: an object, as JSON in a text.', orNull(text)),
  request_content_type: orNull(text),
  response_content_type: orNull(text),
}

const sums: Members = {
  count: whole(0),
  tokens_in: whole(0),
  tokens_out: whole(0),
  cost: about('In US dollars.', { ...number, minimum: 0 }),
  count_without_cost: about('How many calls there is no cost of.', whole(0)),
}

/** Sums over entries, and over those of them that are alike. */
export const logSums = open({
  ...sums,
  groups: listOf(
    open(sums, {
      token_id: orNull(text),
      token_name: about('That of the latest call.', orNull(text)),
      model: orNull(text),
      provider: text,
      day: about('Of UTC.', { ...text, format: 'date' }),
    }),
  ),
})

/** An entry as lists show it. */
export const logSummary = open(summary)

export const logEntry = open(summary, {
  request_head: about('The beginning of the body that was sent, where it was kept.', text),
  request_head_complete: about('Whether that is all of it.', flag),
  response_head: about('The beginning of the body that was answered, where it was kept.', text),
  response_head_complete: about('Whether that is all of it.', flag),
  provider_response_head: about(
    'The beginning of the body that the provider sent, where the caller got another one and it was kept.',
    text,
  ),
  provider_response_head_complete: about('Whether that is all of it.', flag),
  request_head_encoding: about('Stands where it is no text, or of an unknown coding.', exactly('base64')),
  response_head_encoding: about('Stands where it is no text, or of an unknown coding.', exactly('base64')),
  provider_response_head_encoding: about(
    'Stands where it is no text, or of an unknown coding.',
    exactly('base64'),
  ),
})
