// What AI gateways look like, in requests and in answers.

import type { GatewayRateLimit, LogStrategy } from '../../store/records.ts'
import { longestInterval, mostCalls, notBuilt } from './body.ts'
import {
  about,
  closed,
  exactly,
  flag,
  type Members,
  oneOf,
  open,
  orNull,
  type Schema,
  text,
  time,
  whole,
} from '../openapi/schemas.ts'

const id: Schema = { ...text, pattern: '^[a-z0-9_-]{1,64}$' }
const strategy = oneOf(['DELETE_OLDEST', 'STOP_INSERTING'] satisfies LogStrategy[])

const technique = oneOf(['fixed', 'sliding'] satisfies GatewayRateLimit['technique'][])

const settings: Members = {
  authentication: about('Whether calls need a token that may run models.', flag),
  collect_logs: about('Whether the bodies of calls are kept.', flag),
  log_management: about(
    'The most log entries that are kept; 100,000 unless set.',
    orNull(whole(0, 10_000_000)),
  ),
  log_management_strategy: about('What happens at that number.', orNull(strategy)),
  rate_limiting_limit: about(
    'How many calls are let in within an interval; any number unless set, or 0.',
    orNull(whole(0, mostCalls)),
  ),
  rate_limiting_interval: about(
    'The interval in seconds; 1 or more where there is a limit.',
    orNull(whole(0, longestInterval)),
  ),
  rate_limiting_technique: about(
    'Whether intervals follow one another, or each call counts for an interval of its own; fixed unless set.',
    orNull(technique),
  ),
  stream_usage: about(
    'Whether streamed chat completions are asked for their usage, for the log, where their callers do not ask; they are unless set.',
    orNull(flag),
  ),
}

/** Settings of published clients that this gateway does not have: only what turns them off is accepted. */
const unsupported: Members = Object.fromEntries(
  Object.entries(notBuilt).map(([name, off]) => [name, oneOf([...new Set([off, null])])]),
)

const shownOnly: Members = {
  is_default: about('As answers show it.'),
  created_at: about('As answers show it; it stays as it is.'),
  modified_at: about('As answers show it; it is given anew.'),
}

/** The body of a new gateway. */
export const newGateway = closed({ id }, { ...settings, ...unsupported })

/** The body that takes the place of all settings. */
export const changedGateway = closed(
  {},
  { id: about('That of the path.', id), ...settings, ...unsupported, ...shownOnly },
)

export const gateway = open({
  id,
  authentication: flag,
  collect_logs: flag,
  log_management: whole(0),
  log_management_strategy: strategy,
  rate_limiting_limit: whole(0),
  rate_limiting_interval: whole(0),
  rate_limiting_technique: orNull(technique),
  stream_usage: flag,
  ...Object.fromEntries(Object.entries(notBuilt).map(([name, off]) => [name, exactly(off)])),
  is_default: about('Whether calls that name no gateway go through it.', flag),
  created_at: time,
  modified_at: time,
})
