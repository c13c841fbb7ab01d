// The options that set something on an AI gateway.

import { text } from '../options.ts'

/** Each under its API name, with hyphens. */
export const settings = {
  authentication: text('on|off', 'whether calls need an API token; default on'),
  'collect-logs': text('on|off', 'whether the log has the bodies of calls, too; default off'),
  'log-management': text('NUMBER', 'how many log entries are kept at most; default 100000, 0 for none'),
  'log-management-strategy': text('delete-oldest|stop-inserting', 'what happens at that number'),
  'rate-limiting-limit': text('NUMBER', 'how many calls; default 0, no limit'),
  'rate-limiting-interval': text('SECONDS', 'in how many seconds'),
  'rate-limiting-technique': text('fixed|sliding', 'the kind of window'),
  'rate-limiting-key': text('gateway|token|app', 'what calls are counted by; default gateway, all together'),
  'retry-max-attempts': text('NUMBER', 'how often a model that is called by name is tried; default 1'),
  'retry-delay': text('MS', 'how long to wait before another attempt; default 200'),
  'retry-backoff': text('constant|linear|exponential', 'how that grows; default exponential'),
  'on-abandon': text('abort|drain', 'whether providers may finish when callers leave; default abort'),
  'default-max-tokens': text(
    'NUMBER',
    'output tokens of calls that name no maximum, under a limit; default 4096',
  ),
  'unpriced-cost': text(
    'USD|off',
    'what a call to a model without a price costs; default off: it is refused',
  ),
  'cache-ttl': text('SECONDS', 'for how long responses are reused; default 0, for no time'),
  'cache-scope': text('token|app|shared', 'whose calls reuse the same responses; default token'),
  'cache-invalidate-on-update': text('on|off', 'whether a change of settings discards them; default off'),
  'idempotency-keys': text('on|off', 'whether calls with an Idempotency-Key are made once; default off'),
  'stream-usage': text('on|off', 'whether providers are asked for the usage of streams; default on'),
}

export type Setting = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly Setting[]
