// The verbs of `gatehouse log`, as rows of the table of commands.

import { access, type Command, type Option, texts, text, flag } from '../command.ts'

const filters: Readonly<Record<string, Option>> = {
  last: text('NUMBER', 'how many of the latest entries to begin with, up to 100; default 10'),
  failed: flag('only calls that failed'),
  provider: text('NAME', 'only calls to this provider, such as openai'),
  model: text('NAME', 'only calls of this model'),
  status: text('CODE', 'only calls with this HTTP status'),
  'token-id': text('ID', 'only calls with this token, by its id'),
  where: texts(
    'FILTER',
    "any filter of the API as 'KEY OPERATOR VALUE', such as 'duration gt 5000' or 'metadata contains team'; the operators are eq, neq, contains, lt and gt; repeatable, and all must match",
  ),
}

export const logCommands: Readonly<Record<string, Command>> = {
  'log tail': {
    usage: 'log tail [GATEWAY] [OPTION]…',
    summary: 'Follow the log of AI calls, of all gateways or one, until interrupted.',
    options: { ...filters, ...access, json: flag('print JSON, an entry a line') },
    arg: 'optional',
    load: async () => (await import('./tail.ts')).tail,
  },
}
