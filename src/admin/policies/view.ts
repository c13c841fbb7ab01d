// Shows policies in the management API; a policy may be sent back as it is shown.

import { hash } from 'node:crypto'
import type { Policy, PolicyCommit, PolicySet } from '../../store/records/policy.ts'
import { commitInEffect } from '../../store/records/policy.ts'
import type { Bucket } from '../../budgets/rule-buckets.ts'
import type { BudgetSum } from '../../store/records/budget.ts'
import { isoTime } from '../records/record-handlers.ts'

export function viewPolicy({ id, name, actor, resource, condition, action }: Policy) {
  return { id, name, actor, resource, condition: condition ?? null, action: viewAction(action) }
}

function viewAction(action: Policy['action']) {
  if (action.type !== 'limit') return action
  const { type, amount, period, technique, timeZone } = action
  return { type, amount, period, technique, time_zone: period === 'hourly' ? null : (timeZone ?? 'UTC') }
}

export function viewCommit({ id, policies, createdAt }: PolicyCommit, { commits }: PolicySet) {
  return {
    id,
    created_at: isoTime(createdAt),
    active: commits.at(-1)?.id === id,
    policies: policies.map(viewPolicy),
  }
}

/** Shows how a draft differs from what is in effect. */
export function viewDraft({ base, policies }: NonNullable<PolicySet['draft']>, set: PolicySet) {
  const commit = commitInEffect(set)
  const before = new Map((commit?.policies ?? []).map(policy => [policy.id, digestOf(policy)]))
  const after = new Map(policies.map(policy => [policy.id, digestOf(policy)]))
  return {
    base_commit_id: base,
    outdated: base !== (commit?.id ?? null),
    added: [...after.keys()].filter(id => !before.has(id)),
    changed: [...after].flatMap(([id, digest]) => (before.has(id) && before.get(id) !== digest ? [id] : [])),
    removed: [...before.keys()].filter(id => !after.has(id)),
  }
}

export function shortOf({ id, name }: Pick<Policy, 'id' | 'name'>) {
  return { id, name }
}

/** Shows what is spent of a limit of a policy; `identity` is null if all calls share it. */
export function viewBudget(
  { rule, bucket, window }: Bucket,
  identity: string | null,
  { spent, leased }: BudgetSum,
) {
  return {
    budget_id: bucket,
    identity,
    amount: rule.limit / 1e9,
    spent: spent / 1e9,
    leased: leased / 1e9,
    remaining: Math.max(0, rule.limit - spent - leased) / 1e9,
    resets_at: window.kind === 'fixed' ? isoTime(window.until) : null,
  }
}

function digestOf(policy: Policy): string {
  return hash('sha256', JSON.stringify(viewPolicy(policy)))
}
