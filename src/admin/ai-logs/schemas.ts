// Schemas of the log entries of AI gateways.

import type { GuardAction, GuardCheck } from '../../store/records/records.ts'
import { maxMembers } from '../../ai-logs/metadata.ts'
import { seriesBuckets } from '../../ai-logs/query.ts'
import {
  about,
  closed,
  emailVerified,
  exactly,
  flag,
  id,
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

const finding = open({
  check: oneOf(['request', 'response'] satisfies GuardCheck[]),
  name: text,
  action: oneOf(['flag', 'redact', 'block'] satisfies GuardAction[]),
  count: whole(1),
})
const feedback = whole(-1, 1)
const score: Schema = { ...number, minimum: 0, maximum: 100 }

/** The body that changes an entry. */
export const editedLog = closed(
  {},
  {
    feedback: about(
      '1 for a good response, -1 for a bad one, 0 for neither; null removes it.',
      orNull(feedback),
    ),
    score: about('Null removes it.', orNull(score)),
    metadata: about('Replaces the metadata of the call; null removes it.', {
      type: ['object', 'null'],
      maxProperties: maxMembers,
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    }),
  },
)

const ray: Schema = { ...text, pattern: '^[0-9a-f]{16}$' }

const summary: Members = {
  id: about('The ray id of the call.', ray),
  created_at: time,
  provider: text,
  model: about('Null if neither request nor response named one.', orNull(text)),
  path: about('The path at the provider, without the query.', text),
  status_code: whole(100, 999),
  success: about(
    'Whether the provider responded with 2xx, or opened a WebSocket, and the caller received the whole response.',
    flag,
  ),
  error: about('The name of the error, if the gateway generated the response.', orNull(text)),
  duration: about('In ms.', { ...number, minimum: 0 }),
  time_to_first_byte: about('In ms.', orNull({ ...number, minimum: 0 })),
  tokens_in: orNull(whole(0)),
  tokens_out: orNull(whole(0)),
  cost: about('In US dollars.', orNull({ ...number, minimum: 0 })),
  cached: about('Whether the response was that of an earlier call: no provider was asked.', flag),
  authentication: about('Whether the call had a token that was verified.', flag),
  token_id: about('The token of the call; null if the gateway required none.', orNull(text)),
  token_name: about('Its name at that time.', orNull(text)),
  streamed: flag,
  metadata: about('The metadata of the call: an object, as JSON in a string.', orNull(text)),
  request_content_type: orNull(text),
  response_content_type: orNull(text),
}

const sums: Members = {
  count: whole(0),
  tokens_in: whole(0),
  tokens_out: whole(0),
  cost: about('In US dollars.', { ...number, minimum: 0 }),
  count_without_cost: about('The number of calls with unknown cost.', whole(0)),
  count_cached: about('The number of calls whose response was that of another one.', whole(0)),
  saved_tokens_in: about('What these would have taken, as far as it is known.', whole(0)),
  saved_tokens_out: about('Likewise.', whole(0)),
  saved_cost: about('Likewise, in US dollars.', { ...number, minimum: 0 }),
}

/** Sums over entries, and over groups of them. */
export const logSums = open({
  ...sums,
  groups: listOf(
    open(sums, {
      token_id: orNull(text),
      token_name: about('Of the latest call.', orNull(text)),
      model: orNull(text),
      provider: text,
      day: about('In UTC.', { ...text, format: 'date' }),
    }),
  ),
})

const seriesSums: Members = {
  ...sums,
  errors: about('Calls without success.', whole(0)),
  duration_p50: about('In ms, within 10 %; null without calls.', orNull({ ...number, minimum: 0 })),
  duration_p95: orNull({ ...number, minimum: 0 }),
}

const point = open({ at: about('When the window begins.', time), ...seriesSums })

/** Sums over entries by windows of time, and over groups of them. */
export const logSeries = open(
  {
    bucket: oneOf(Object.keys(seriesBuckets)),
    since: time,
    before: time,
    complete_since: about(
      'Nothing is missing from here on. What is earlier is being summed up: repeat the request later, or if it has filters that look at entries, with this as `end_date`.',
      time,
    ),
    is_complete: flag,
    scanned: about('How many entries were looked at for the filters; 0 where sums were enough.', whole(0)),
    ...seriesSums,
    points: about('One for each window.', listOf(point)),
  },
  {
    groups: about(
      'With `group_by`, the 10 with the most calls; their points are those of windows with calls.',
      listOf(
        open(
          { ...seriesSums, points: listOf(point) },
          {
            model: orNull(text),
            provider: text,
            token_id: orNull(text),
            token_name: about('Of the latest call.', orNull(text)),
            client_id: about('Null for calls without an app.', orNull(text)),
            client_name: about('Of the latest call.', orNull(text)),
          },
        ),
      ),
    ),
    others: about('With `group_by`, all other groups.', open({ ...seriesSums, points: listOf(point) })),
  },
)

/** Only of some calls, such as those with estimated tokens or omitted parts, and those of an app. */
const some: Members = {
  custom_cost: about('Present, and true, if the caller named the cost, or the price of a token.', flag),
  attempts: about(
    'Each attempt at the call, in order. `outcome` is `ok`, `http_` with the status of the provider, `stream_error`, the name of an error, or `client_left`; `duration` is the time until its first content or its failure, in ms. Absent in older entries.',
    listOf(open({ provider: text, model: orNull(text), outcome: text, duration: { ...number, minimum: 0 } })),
  ),
  step: about('Which model of its route responded, from 0.', whole(0)),
  event_id: about('What the caller sent as `svc-aig-event-id`.', text),
  feedback: about(
    'What somebody thinks of the response: 1 good, -1 bad, 0 neither. Absent for no opinion.',
    feedback,
  ),
  score: about('A score that somebody gave.', score),
  usage_estimated: about(
    'Present, and true, if the call ended before its provider reported its tokens: they are estimated by what was sent.',
    flag,
  ),
  dropped: about(
    'Members of the request that the provider did not get, as `messages[].content[].cache_control`: its API has no equivalent. Present if there are any.',
    listOf(text),
  ),
  findings: about(
    'What the guard of the gateway found: where, the name of the pattern, what happened, and how often. Present if there is anything.',
    listOf(finding),
  ),
  saved_tokens_in: about(
    'Of a call whose response was that of an earlier one: the tokens that it would have taken, if they are known.',
    orNull(whole(0)),
  ),
  saved_tokens_out: about('Likewise.', orNull(whole(0))),
  saved_cost: about('Likewise, in US dollars.', orNull({ ...number, minimum: 0 })),
  user_id: about('The user for whom an app made the call.', id),
  user_email: about('Their e-mail address at that time.', text),
  user_email_verified: emailVerified,
  client_id: about(
    'The app; `token_id` is then the consent by which it acted, and `token_name` its name.',
    id,
  ),
  client_name: about('The name of the app at that time.', text),
}

/** An entry as in lists. */
export const logSummary = open(summary, some)

export const logEntry = open(summary, {
  ...some,
  request_head: about('The beginning of the request body, if it was stored.', text),
  request_head_complete: about('Whether that is the whole body.', flag),
  response_head: about('The beginning of the response body, if it was stored.', text),
  response_head_complete: about('Whether that is the whole body.', flag),
  provider_response_head: about(
    'The beginning of the body of the provider, if the caller received a different one and it was stored.',
    text,
  ),
  provider_response_head_complete: about('Whether that is the whole body.', flag),
  request_head_encoding: about(
    'Present if the body is not text, or has an unknown coding.',
    exactly('base64'),
  ),
  response_head_encoding: about(
    'Present if the body is not text, or has an unknown coding.',
    exactly('base64'),
  ),
  provider_response_head_encoding: about(
    'Present if the body is not text, or has an unknown coding.',
    exactly('base64'),
  ),
})
