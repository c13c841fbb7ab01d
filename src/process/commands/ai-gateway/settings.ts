// The options that set something on an AI gateway.

import type { Option } from '../command.ts'

/** Each under its API name, with hyphens. */
export const settings = {
  authentication: { type: 'string', value: 'on|off', help: 'whether calls need an API token; default on' },
  'collect-logs': {
    type: 'string',
    value: 'on|off',
    help: 'whether the log has the bodies of calls, too; default off',
  },
  'log-management': {
    type: 'string',
    value: 'NUMBER',
    help: 'how many log entries are kept at most; default 100000, 0 for none',
  },
  'log-management-strategy': {
    type: 'string',
    value: 'delete-oldest|stop-inserting',
    help: 'what happens at that number',
  },
  'rate-limiting-limit': { type: 'string', value: 'NUMBER', help: 'how many calls; default 0, no limit' },
  'rate-limiting-interval': { type: 'string', value: 'SECONDS', help: 'in how many seconds' },
  'rate-limiting-technique': { type: 'string', value: 'fixed|sliding', help: 'the kind of window' },
  'rate-limiting-key': {
    type: 'string',
    value: 'gateway|token|app',
    help: 'what calls are counted by; default gateway, all together',
  },
  'stream-usage': {
    type: 'string',
    value: 'on|off',
    help: 'whether providers are asked for the usage of streams; default on',
  },
} as const satisfies Readonly<Record<string, Option>>

/** The name of one of them. */
export type Setting = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly Setting[]
