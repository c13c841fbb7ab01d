// The options that select entries of the log.

import { flag, text, texts } from '../options.ts'

export const filters = {
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
