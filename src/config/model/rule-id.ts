// What a rule is known by: those of the management API have an id, those of the file are known by what they say.

import { hash } from 'node:crypto'
import { memoizeEach } from '../../base/memo.ts'

/** Returns the id of a rule, 32 hex digits: rules of the file keep theirs until they change. */
export const ruleIdOf = memoizeEach((rule: object): string =>
  'id' in rule ? String(rule.id) : hash('sha256', JSON.stringify(rule)).slice(0, 32),
)
