// The verbs of `gatehouse log`, as rows of the table of commands: the log of AI calls, over the management
// API.

import { access, type Command, type Option } from '../command.ts'

const filters: Readonly<Record<string, Option>> = {
  last: {
    type: 'string',
    value: 'NUMBER',
    help: 'how many of the latest entries to begin with, up to 100; default 10',
  },
  failed: { type: 'boolean', help: 'only calls that failed' },
  provider: { type: 'string', value: 'NAME', help: 'only calls to this provider, such as openai' },
  model: { type: 'string', value: 'NAME', help: 'only calls of this model' },
  status: { type: 'string', value: 'CODE', help: 'only calls with this HTTP status' },
  'token-id': { type: 'string', value: 'ID', help: 'only calls with this token, by its id' },
  where: {
    type: 'string',
    multiple: true,
    value: 'FILTER',
    help: "any filter of the API as 'KEY OPERATOR VALUE', such as 'duration gt 5000' or 'metadata contains team'; the operators are eq, neq, contains, lt and gt; repeatable, and all must match",
  },
}

export const logCommands: Readonly<Record<string, Command>> = {
  'log tail': {
    usage: 'log tail [GATEWAY] [OPTION]…',
    summary: 'Follow the log of AI calls, of all gateways or one, until interrupted.',
    options: { ...filters, ...access, json: { type: 'boolean', help: 'print JSON, an entry a line' } },
    args: 1,
    load: async () => (await import('./tail.ts')).tail,
  },
}
