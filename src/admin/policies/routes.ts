// The rows of the admin listener about the policies of gateways: method, path, permission, handler.

import { account, type ApiRow } from '../api/api-types.ts'
import { jsonBody } from '../http/request-body.ts'
import {
  commitPolicies,
  createPolicy,
  deletePolicy,
  discardPolicyDraft,
  getPolicy,
  getPolicyDraft,
  listPolicies,
  listPolicyCommits,
  rollBackPolicies,
  updatePolicy,
} from './policies.ts'
import { listPolicyBudgets } from './budgets.ts'
import { simulatePolicies } from './simulate.ts'

const policies = `${account}/ai-gateway/gateways/{gateway_id}/policies`
const policy = `${policies}/{policy_id}`
const read = { method: 'GET', permission: 'AI Gateway Read' } as const
const edit = { permission: 'AI Gateway Edit', headers: ['if-match'], lastingAccess: 'nothing' } as const
const asking = { permission: 'AI Gateway Read', lastingAccess: 'nothing', body: jsonBody } as const

export const policyRows: readonly ApiRow[] = [
  { method: 'POST', path: policies, ...edit, body: jsonBody, handle: createPolicy },
  { ...read, path: policies, query: ['page', 'per_page', 'state'], handle: listPolicies },
  { ...read, path: `${policies}/draft`, handle: getPolicyDraft },
  { method: 'DELETE', path: `${policies}/draft`, ...edit, handle: discardPolicyDraft },
  { ...read, path: `${policies}/budgets`, handle: listPolicyBudgets },
  { ...read, path: `${policies}/commits`, query: ['page', 'per_page'], handle: listPolicyCommits },
  { method: 'POST', path: `${policies}/commit`, ...edit, handle: commitPolicies },
  { method: 'POST', path: `${policies}/rollback`, ...edit, body: jsonBody, handle: rollBackPolicies },
  { method: 'POST', path: `${policies}/simulate`, ...asking, handle: simulatePolicies },
  { ...read, path: policy, handle: getPolicy },
  { method: 'PUT', path: policy, ...edit, body: jsonBody, handle: updatePolicy },
  { method: 'DELETE', path: policy, ...edit, handle: deletePolicy },
]
