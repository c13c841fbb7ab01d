// The operations of the logs of AI gateways, for the document of the API.

import { logCursorOf, seriesBuckets, seriesGroups, tailCursorOf } from '../../ai-logs/query.ts'
import { dimensions, maxGroups } from '../../ai-logs/sums.ts'
import { editedLog } from './schemas.ts'
import { json, type Operation } from '../schema/operation.ts'
import {
  about,
  listOf,
  type Members,
  named,
  oneOf,
  open,
  piece,
  type Schema,
  success,
  text,
  whole,
} from '../schema/schema.ts'
import { moment, pageQuery } from '../schema/query-schemas.ts'

const tag = 'AI gateway logs'
const logs = '/client/v4/accounts/{account_id}/ai-gateway/gateways/{gateway_id}/logs'
const log = `${logs}/{log_id}`

const truth = oneOf(['true', 'false'])
const amount: Schema = { type: 'number', minimum: 0 }
const line: Schema = { ...text, minLength: 1, maxLength: 1000 }
const direction = oneOf(['asc', 'desc'])
const cursor: Schema = {
  ...pageQuery.cursor,
  examples: [logCursorOf({ value: 1_767_225_600_000, createdAt: 1_767_225_600_000, id: '0123456789abcdef' })],
}

const order: Members = {
  order_by: about(
    '`created_at` by default.',
    oneOf([
      'created_at',
      'provider',
      'model',
      'status',
      'success',
      'cached',
      'cost',
      'tokens_in',
      'tokens_out',
      'duration',
      'feedback',
    ]),
  ),
  order_by_direction: direction,
}

const keys = [
  'id',
  'created_at',
  'provider',
  'model',
  'path',
  'status',
  'success',
  'cached',
  'authentication',
  'token_id',
  'user_id',
  'client_id',
  'event_id',
  'duration',
  'tokens_in',
  'tokens_out',
  'tokens',
  'cost',
  'feedback',
  'request_content_type',
  'response_content_type',
  'metadata',
] as const

/** Lists that contain the parts of each filter one after the other. */
const filters: Members = {
  'filters.key': about(
    'The key that a filter compares; its operator and values follow.',
    listOf(oneOf(keys), 0, 20),
  ),
  'filters.operator': listOf(oneOf(['eq', 'neq', 'contains', 'lt', 'gt']), 0, 20),
  'filters.value': about('Empty means null.', listOf(text)),
}

const comparisons: Members = {
  status: about('The HTTP status.', amount),
  success: truth,
  cached: truth,
  provider: line,
  model: line,
  token_id: line,
  user_id: about('The user for whom an app made the call.', line),
  client_id: about('The app that made the call.', line),
  event_id: about('What the caller sent as `svc-aig-event-id`.', line),
  request_content_type: line,
  response_content_type: line,
  search: about('Part of the metadata.', line),
  start_date: about('After this date or time.', moment),
  end_date: about('Before this date or time.', moment),
  ...between('cost'),
  ...between('duration'),
  ...between('tokens_in'),
  ...between('tokens_out'),
  ...between('total_tokens'),
}

const payload: Operation['response'] = {
  content: { 'application/json': {}, 'text/plain; charset=utf-8': text },
  headers: ['svc-body-encoding'],
}

const listInfo = open(
  { per_page: whole(1), count: whole(0) },
  {
    page: whole(1),
    total_count: whole(0),
    scanned: about('With `max_scanned`: how many entries were looked at.', whole(0)),
    cursor: about('Leads to what follows; absent at the end of the list.', text),
  },
)

export const logOperations: Readonly<Record<string, Operation>> = {
  [`GET ${logs}`]: {
    id: 'listLogs',
    tag,
    summary: 'List log entries, without bodies',
    description: 'Newest first by default.',
    query: {
      page: pageQuery.page!,
      per_page: pageQuery.per_page!,
      cursor,
      max_scanned: about(
        'Looks at no more entries than this, and for 50 ms: `result_info` then has `scanned` in place of totals, and a `cursor` unless that was the last entry. For lists by `created_at` without `page`.',
        whole(1, 20_000),
      ),
      ...order,
      direction,
      ...comparisons,
      ...filters,
      meta_info: about('Totals are not supported.', oneOf(['false'])),
    },
    response: json(piece(named('LogSummary'), listInfo)),
  },
  [`DELETE ${logs}`]: {
    id: 'deleteLogs',
    tag,
    summary: 'Delete the log entries that match the filters',
    description:
      'Oldest first by default. If the number deleted equals the limit, there may be more. The deletion is in the audit log.',
    query: { limit: about('10,000 by default.', whole(1, 10_000)), ...order, ...filters },
    response: json(success(open({ deleted: whole(0) }))),
  },
  [`GET ${logs}/series`]: {
    id: 'getLogSeries',
    tag,
    summary: 'Sum up the log entries over time',
    description:
      'What is kept, by the time at which the calls began: entries that were deleted, or not inserted at the limit, are in no sum. Filters other than `provider`, `model`, `token_id` and `client_id` look at up to 20,000 of the latest entries.',
    query: {
      ...comparisons,
      start_date: about(
        'From the beginning of this window on; by default a day before the end, an hour if `bucket` is `minute`, and 30 days if it is `day`.',
        moment,
      ),
      end_date: about('To the end of this window; now by default.', moment),
      bucket: about(
        'The length of the windows, in UTC: by default `minute` for up to 3 hours, `hour` for up to 7 days. At most 750 windows.',
        oneOf(Object.keys(seriesBuckets)),
      ),
      group_by: oneOf(seriesGroups),
      ...filters,
    },
    response: json(success(named('LogSeries'))),
  },
  [`GET ${logs}/tail`]: {
    id: 'tailLogs',
    tag,
    summary: 'List the latest log entries, and those that come later',
    description:
      'In the order in which they were stored. `result_info.cursor` leads to what is stored later. With filters, a response looks at up to 500 entries.',
    query: {
      per_page: about('20 by default.', whole(1, 100)),
      cursor: about('`result_info.cursor` of the previous response.', {
        ...text,
        minLength: 1,
        examples: [tailCursorOf('12')],
      }),
      ...comparisons,
      ...filters,
    },
    response: json(piece(named('LogSummary'), open({ count: whole(0), scanned: whole(0), cursor: text }))),
  },
  [`GET ${logs}/summary`]: {
    id: 'sumLogs',
    tag,
    summary: 'Summarize the log entries that match the filters',
    description: `In total and by the given dimensions, most expensive first. 400 if there are more than ${maxGroups} groups.`,
    query: {
      ...comparisons,
      group_by: about(`One or more of ${dimensions.join(', ')}, separated by commas.`, {
        ...text,
        pattern: `^(?:${dimensions.join('|')})(?:,(?:${dimensions.join('|')}))*$`,
        examples: ['token,day'],
      }),
      ...filters,
    },
    response: json(success(named('LogSums'))),
  },
  [`GET ${log}`]: {
    id: 'getLog',
    tag,
    summary: 'Show a log entry',
    response: json(success(named('LogEntry'))),
  },
  [`PATCH ${log}`]: {
    id: 'editLog',
    tag,
    summary: 'Say what you think of a call',
    description: 'Members left out of the body stay as they are.',
    body: {
      schema: editedLog,
      examples: {
        'A good response': { feedback: 1 },
        'Scored by a test': { score: 87.5, metadata: { suite: 'nightly' } },
      },
    },
    response: json(success(named('LogSummary'))),
  },
  [`GET ${log}/request`]: {
    id: 'getLogRequest',
    tag,
    summary: 'Show the request body of the caller',
    description: 'As stored; as text if it is not JSON, or incomplete.',
    response: payload,
  },
  [`GET ${log}/response`]: {
    id: 'getLogResponse',
    tag,
    summary: 'Show the response body that the caller received',
    description: 'As stored; as text if it is not JSON, or incomplete.',
    response: payload,
  },
  [`GET ${log}/provider_response`]: {
    id: 'getLogProviderResponse',
    tag,
    summary: 'Show the response body of the provider, if the caller received a different one',
    description: 'As stored; as text if it is not JSON, or incomplete.',
    response: payload,
  },
}

function between(name: string): Members {
  return {
    [`min_${name}`]: about('More than this.', amount),
    [`max_${name}`]: about('Less than this.', amount),
  }
}
