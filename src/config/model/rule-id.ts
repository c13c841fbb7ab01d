// Rule ids: those of the management API have one, those of the file get one from their content.

import { hash } from 'node:crypto'
import { memoizeEach } from '../../base/memo.ts'

/** Returns the id of a rule, 32 hex digits: rules of the file keep theirs until they change. */
export const ruleIdOf = memoizeEach((rule: object): string =>
  'id' in rule ? String(rule.id) : hash('sha256', JSON.stringify(rule)).slice(0, 32),
)

/** Returns the id of an API-managed rule; null for a rule of the file. */
export function managedRuleIdOf(rule: object): string | null {
  return 'id' in rule ? String(rule.id) : null
}
